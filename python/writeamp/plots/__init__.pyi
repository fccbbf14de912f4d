"""Names of `writeamp.plots`."""

from .figures.endurance import LifeCurve as LifeCurve
from .figures.endurance import erases_of_blocks as erases_of_blocks
from .figures.endurance import life_over_w as life_over_w
from .figures.wa_by_policy import PolicyResult as PolicyResult
from .figures.wa_by_policy import wa_by_policy as wa_by_policy
from .figures.wa_over_time import WaSeries as WaSeries
from .figures.wa_over_time import wa_over_time as wa_over_time
from .output import check_target as check_target
from .output import save as save
from .spec import BarChart as BarChart
from .spec import FigureSpec as FigureSpec
from .spec import HeatMapChart as HeatMapChart
from .spec import LineChart as LineChart
from .spec import PanelChart as PanelChart
from .spec import TreeChart as TreeChart
