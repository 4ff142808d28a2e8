"""From scores to probabilities, and how good these are.

Every map is learned from rows that had no part in the draws: leave-one-out scores of the linear
model (:mod:`.maps`), folds of the infinite SVM (:mod:`.floored`), documents held out of a topic
model (:mod:`.slopes` and :mod:`.two_classes`; sets of labels :mod:`.label_chances`; few words
:mod:`.short_documents`).
"""
