"""Names of `writeamp.learn.blackbox`."""

from .choosing import Ranking as Ranking
from .choosing import Verdict as Verdict
from .choosing import choose as choose
from .collection import Collected as Collected
from .collection import collect as collect
from .designs import Design as Design
from .explanation import Explanation as Explanation
from .explanation import explained as explained
from .features import of_workload as of_workload
from .measurement_file import read_measurements as read_measurements
from .model_file import load as load
from .model_file import save as save
from .predictions import Forecast as Forecast
from .predictions import HeldOut as HeldOut
from .predictions import Predictions as Predictions
from .targets.choice import target_of as target_of
from .training import BlackBox as BlackBox
from .training import train as train
