"""What saving knows of models: a file a kind of model, and the folders that they are kept in.

Whoever imports from here has told the codec the classes of all models.
"""

from bayesmargin.models.saved.classes import tell_codec

tell_codec()
