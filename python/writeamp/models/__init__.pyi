"""Names of `writeamp.models`."""

from ._block_lifetime import block_lifetime as block_lifetime
from ._block_lifetime import valid_pages as valid_pages
from ._coupon_collector import coupon_collector as coupon_collector
from ._d_choices import d_choices as d_choices
from ._describes import Describes as Describes
from ._effective_op import effective_op as effective_op
from ._expected_value import expected_value as expected_value
from ._fifo import fifo as fifo
from ._markov import markov as markov
from ._model import Model as Model
from ._model import ModelInputs as ModelInputs
from ._registry import MODELS as MODELS
from ._registry import find_model as find_model
from ._registry import required_op as required_op
from ._uniform_distribution import uniform_distribution as uniform_distribution
