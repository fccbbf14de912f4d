"""Models learned from measurements of drives: black-box models and twins."""

from writeamp.fields.late_names import late_names

__getattr__, __dir__ = late_names(__name__, __file__)
