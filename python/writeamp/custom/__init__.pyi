"""Names of `writeamp.custom`."""

from .compiling import compiled as compiled
from .names import Kind as Kind
from .names import known_names as known_names
from .names import placement as placement
from .names import victim_policy as victim_policy
from .policies import NEVER as NEVER
from .policies import DriveFacts as DriveFacts
from .policies import Placement as Placement
from .policies import VictimPolicy as VictimPolicy
from .references import KINDS as KINDS
from .references import CustomPolicy as CustomPolicy
from .references import ListedPolicy as ListedPolicy
from .references import as_written as as_written
from .references import classes_in as classes_in
from .references import find as find
from .references import find_class as find_class
from .references import is_reference as is_reference
from .references import is_users as is_users
from .references import listed as listed
from .references import reference_of as reference_of
from .references import split_file as split_file
from .references import without_imports as without_imports
from .source import HOOKS as HOOKS
from .source import PolicySource as PolicySource
