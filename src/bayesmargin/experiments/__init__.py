"""The paper's figures and tables, one file each, run by ``bayesmargin reproduce``.

=====================  ==========================================================================
``smoothing``          the polynomially smoothed energy
``synthetic_posterior``  a posterior of two weights: every sampler against quadrature
``convergence``        accuracy against time, a text problem and HIGGS
``batch_size``         accuracy against batch size
``adagrad``            AdaGrad against polynomially decaying steps
``medlda_documents``   topic models: accuracy against documents processed
``medlda_time``        topic models: F1 against time, on up to a million documents
``topic_view``         topics of each class and their top words
``infinite_svm_table``  the table of the infinite SVM
=====================  ==========================================================================

An experiment is a function ``run(setup) -> Result`` in the file of its name. What they share:
``sizes.py`` (what a run is asked for), ``results.py`` (numbers, picture, text, verdicts),
``drawing.py`` (the look of all pictures), ``clock.py`` (time without the evaluation), ``curves.py``
(chains followed while they run), ``search.py`` (grid searches), ``linear_problems.py``,
``paper_samplers.py``, ``topic_runs.py`` (data and samplers), ``topic_curves.py`` (topic models
followed while they learn). ``running.py`` runs them by name, and ``page.py`` writes the page that
collects everything.
"""

NAMES = (
    "smoothing",
    "synthetic_posterior",
    "convergence",
    "batch_size",
    "adagrad",
    "medlda_documents",
    "medlda_time",
    "topic_view",
    "infinite_svm_table",
)
