"""The command line `socket-data`. Heavy libraries are imported by the command that needs them."""

import io
import signal
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from builders.problems import Problem, WrongUsage

INTERRUPTED = 130  # what typer gives back after Ctrl-C

app = typer.Typer(
    help="Build the SocKET data package from raw corpora.\n\n"
    "NAME is a corpus (hahackathon) or a task (hahackathon#is_humor).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="Corpora or tasks; all if none is named.", show_default=False),
]
Raw = Annotated[
    Path | None,
    typer.Option(
        "--raw",
        metavar="DIR",
        help="A mirror of the raw files, laid out as <corpus>/<file>.",
        show_default=False,
    ),
]

Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Work on this Ray cluster, whose nodes see the same files; `auto` finds one that runs here.",
        show_default=False,
    ),
]


def _examples(*commands: str) -> str:
    return "[bold]Examples[/bold]\n\n" + "\n\n".join(f"  {command}" for command in commands)


@app.command(epilog=_examples("socket-data corpora", "socket-data corpora --raw mirror"))
def corpora(raw: Raw = None) -> None:
    """Show every corpus: access, licence, raw files found, missing or wrong, tasks, and what to do."""
    from builders.commands.corpora import run

    raise typer.Exit(run(raw))


@app.command(
    epilog=_examples(
        "socket-data fetch",
        "socket-data fetch emobank tweet_irony",
        "socket-data fetch hahackathon --raw mirror",
    )
)
def fetch(names: Names = None, raw: Raw = None) -> None:
    """Bring raw files into the cache: downloaded, or copied from a mirror with --raw. Every byte is checked.

    A cut download goes on where it stopped. One corpus that cannot be had does not stop the others.
    """
    from builders.commands.fetch import run

    raise typer.Exit(run(names or [], raw))


@app.command(
    epilog=_examples(
        "socket-data build --sample --out release-sample",
        "socket-data build --raw mirror --out release",
        "socket-data build hahackathon 'emobank#valence' --raw mirror --out release-small",
    )
)
def build(
    names: Names = None,
    raw: Raw = None,
    sample: Annotated[bool, typer.Option("--sample", help="Build from the invented samples in the project.")] = False,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The release folder, made or replaced.")] = Path(
        "release"
    ),
    workers: Annotated[
        int,
        typer.Option("--workers", min=0, metavar="N", help="Corpora built at a time; 0 means one per CPU."),
    ] = 0,
    ray: Ray = None,
) -> None:
    """Build a release from the raw files in the cache, in a mirror (--raw), or from the samples (--sample).

    What has not changed since the release in DIR is taken from it. DIR is complete or untouched.
    """
    from builders.commands.build import run

    raise typer.Exit(run(names or [], raw, sample, out, workers, ray))


@app.command(
    epilog=_examples(
        "socket-data show emobank#valence", "socket-data show 'hahackathon#is_humor' --release release-sample"
    )
)
def show(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task of the release.", show_default=False)],
    release: Annotated[Path, typer.Option("--release", metavar="DIR", help="The release folder.")] = Path("release"),
) -> None:
    """Show a task of a release: sizes, label counts, what was dropped and why, and a few items."""
    from builders.commands.show import run

    raise typer.Exit(run(task, release))


@app.command(
    epilog=_examples(
        "socket-data fidelity release",
        "socket-data fidelity release --published SOCKET_1.1.0 --json fidelity.json",
    )
)
def fidelity(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release folder.", show_default=False)],
    published: Annotated[
        str | None,
        typer.Option(
            metavar="DIR_OR_REPO",
            help="The published release: a folder in its layout, or a Hub repository.",
            show_default=False,
        ),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the comparison there too.", show_default=False)
    ] = None,
) -> None:
    """Compare a release with the published one (1.1.0): sizes, labels, text, and the reason for each difference."""
    from builders.commands.fidelity import run

    raise typer.Exit(run(release, published, json_file))


@app.command(
    epilog=_examples(
        "socket-data validate release",
        "socket-data validate release --report reports",
        "socket-data validate release --task 'emobank#valence'",
    )
)
def validate(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release folder.", show_default=False)],
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="T", help="Only this task or corpus, with every warning. Can be repeated."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a report there, pages to look at in a browser.", show_default=False),
    ] = None,
    statistics: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the numbers behind the verdict there, no texts.", show_default=False),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=0, metavar="N", help="Corpora measured at a time; 0 means one per CPU.")
    ] = 0,
) -> None:
    """Say whether a release may be published, and why not: files, ledger, splits, labels, texts, papers.

    Errors block (exit status 1); those listed in validation/known.yaml with a reason are accepted. The release is
    only read. --report also runs the great-expectations suite, whose failures are errors too.
    """
    from builders.commands.validate import run

    raise typer.Exit(run(release, task or [], report, statistics, workers))


@app.command(epilog=_examples("socket-data export release --published-layout text-files"))
def export(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release folder.", show_default=False)],
    published_layout: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Write SOCKET_DATA/<task>/ there, as 1.1.0 has it.", show_default=False),
    ],
) -> None:
    """Write a release as the text files of the published release 1.1.0, for code that reads those.

    DIR is complete or untouched; an earlier export is replaced.
    """
    from builders.commands.export import run

    raise typer.Exit(run(release, published_layout))


@app.command(
    epilog=_examples(
        "socket-data verify release",
        "socket-data verify Blablablab/SOCKET@v2.0.0 --load",
    )
)
def verify(
    place: Annotated[
        str,
        typer.Argument(
            metavar="DIR_OR_REPO", help="A release folder, or a Hub repository, maybe @revision.", show_default=False
        ),
    ],
    load: Annotated[
        bool, typer.Option("--load", help="Load every task by name with `datasets` and compare the rows too.")
    ] = False,
) -> None:
    """Check a folder or a Hub repository against its release.lock.json: every file, and with --load every row."""
    from builders.commands.verify import run

    raise typer.Exit(run(place, load))


@app.command(
    epilog=_examples(
        "socket-data diff release-old release",
        "socket-data diff Blablablab/SOCKET@v2.0.0 release --json diff.json",
    )
)
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A folder or Hub repository.", show_default=False)],
    after: Annotated[str, typer.Argument(metavar="B", help="The later one.", show_default=False)],
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write every changed row there, by id.", show_default=False),
    ] = None,
    changelog: Annotated[bool, typer.Option("--changelog", help="Print a draft CHANGELOG entry instead.")] = False,
) -> None:
    """Say what changed between two releases, row by row, and which version that asks for.

    Items are added, removed (with the ledger's reason), moved to another split, relabelled, or spelled otherwise.
    """
    from builders.commands.diff import run

    raise typer.Exit(run(before, after, json_file, changelog))


@app.command(
    epilog=_examples(
        "socket-data push release --repo Blablablab/SOCKET --dry-run",
        "socket-data push release --repo Blablablab/SOCKET",
    )
)
def push(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release folder.", show_default=False)],
    repo: Annotated[str, typer.Option(metavar="ID", help="The Hub repository, owner/name.", show_default=False)],
    create_pr: Annotated[bool, typer.Option("--create-pr", help="As a pull request, without a tag.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Validate and print the plan, change nothing.")] = False,
    tag: Annotated[
        str | None, typer.Option(metavar="TAG", help="Instead of v and the version.", show_default=False)
    ] = None,
    include_restricted: Annotated[
        bool, typer.Option("--include-restricted", help="Also corpora that are gated or may not be passed on; asks.")
    ] = False,
) -> None:
    """Make a Hub repository equal to a release, in one commit; tag it; load every task again and compare.

    Refuses what does not validate. The token is that of `hf auth login` or HF_TOKEN. A push that was cut can be
    repeated.
    """
    from builders.commands.push import run

    raise typer.Exit(run(release, repo, create_pr, dry_run, tag, include_restricted))


@app.command(
    epilog=_examples(
        "socket-data release --raw mirror --out release --against Blablablab/SOCKET@v2.0.0 --report reports",
        "socket-data release --sample --out release-sample",
    )
)
def release(
    raw: Raw = None,
    sample: Annotated[bool, typer.Option("--sample", help="From the invented samples in the project.")] = False,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The release folder, made or replaced.")] = Path(
        "release"
    ),
    against: Annotated[
        str | None,
        typer.Option(metavar="DIR_OR_REPO", help="The last release, to compare with.", show_default=False),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the validation report there.", show_default=False)
    ] = None,
    workers: Annotated[
        int, typer.Option(min=0, metavar="N", help="Corpora worked on at a time; 0 means one per CPU.")
    ] = 0,
) -> None:
    """Build, validate and compare with the last release, in one go, with a verdict at the end."""
    from builders.commands.release import run

    raise typer.Exit(run(raw, sample, out, against, report, workers))


CorpusName = Annotated[str, typer.Argument(metavar="NAME", help="The corpus (its folder's name).", show_default=False)]


@app.command("new-corpus", epilog=_examples("socket-data new-corpus my-corpus"))
def new_corpus(name: CorpusName) -> None:
    """Make the folder of a new corpus: a commented corpus.yaml, a build.py, a sample and an expected.yaml."""
    from builders.commands.new_corpus import run

    raise typer.Exit(run(name))


Release = Annotated[Path, typer.Argument(metavar="RELEASE", help="The release folder.", show_default=False)]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME",
        help="bert-base-uncased, roberta-base, deberta-v3-base, MiniLM, minilm-l6 (a package, no Hub), OWNER/NAME, or "
        "a folder.",
    ),
]
Recipe = Annotated[
    str, typer.Option("--recipe", metavar="NAME", help="paper, minilm-l6-cpu, or a .yaml file with all settings.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SETTING=VALUE", help="Another value for a setting. Can be repeated."),
]
Runs = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="The folder of the trials; a later call goes on there.")
]
Tasks = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TASK]...", help="Tasks or corpora; all if none is named.", show_default=False),
]


@app.command(
    epilog=_examples(
        "socket-data check my-corpus",
        "socket-data check my-corpus --raw mirror",
        "socket-data check my-corpus --raw mirror --with-baseline trials",
    )
)
def check(
    name: CorpusName,
    raw: Raw = None,
    with_baseline: Annotated[
        Path | None,
        typer.Option(
            "--with-baseline",
            metavar="DIR",
            help="Train BERT on the tasks too, which must not be too easy for it; the trials go there.",
            show_default=False,
        ),
    ] = None,
    model: Model = "bert-base-uncased",
    recipe: Recipe = "paper",
    settings: Overrides = None,
) -> None:
    """Say what is still missing or wrong in a corpus folder, until nothing is.

    --with-baseline needs the real raw files, and on a GPU some minutes; --model, --recipe and --set are for it.
    """
    from builders.commands.check import Baseline, run

    if with_baseline is None:
        raise typer.Exit(run(name, raw))
    from baselines.recipe import read_recipe

    raise typer.Exit(run(name, raw, Baseline(model, read_recipe(recipe, settings or []), with_baseline)))


baseline = typer.Typer(
    help="Score predictions on a release, and put the scores beside those of the paper.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.add_typer(baseline, name="baseline")


@baseline.command(
    epilog=_examples(
        "socket-data baseline majority release", "socket-data baseline majority release --json scores.json"
    )
)
def majority(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release folder.", show_default=False)],
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write a score file there too.", show_default=False)
    ] = None,
) -> None:
    """Score what needs no model: the most frequent label of train, and chance, on test and SocKETTe of every task.

    The same rows of the paper stand beside it; what differs is marked, with the reason.
    """
    from builders.commands.baseline import run_majority

    raise typer.Exit(run_majority(release, json_file))


@baseline.command(
    epilog=_examples(
        "socket-data baseline table runs",
        "socket-data baseline table majority.json runs --out table.html",
        "socket-data baseline table runs --split sockette --format csv",
    )
)
def table(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="SCORES", help="Score files, or folders with score files.", show_default=False),
    ],
    kind: Annotated[
        Literal["markdown", "csv", "html"] | None,
        typer.Option("--format", help="By the name of --out (.md, .csv, .html), else markdown.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the table there.", show_default=False)
    ] = None,
    split: Annotated[
        Literal["test", "sockette", "validation"], typer.Option("--split", help="The split that was scored.")
    ] = "test",
    allow_mixed: Annotated[
        bool, typer.Option("--allow-mixed", help="Show scores of several releases together; the table says so.")
    ] = False,
) -> None:
    """Put the scores of models beside the published ones: task by task, and the ten figures of the paper.

    Differences are told between scores of the same model; tasks whose data was corrected stand apart.
    """
    from builders.commands.baseline import run_table

    raise typer.Exit(run_table(paths, kind, out, split, allow_mixed))


@baseline.command(
    epilog=_examples(
        "socket-data baseline correlate",
        "socket-data baseline correlate scores.json --plot points.svg",
        "socket-data baseline correlate runs --model minilm-l6",
    )
)
def correlate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SCORES",
            help="Score files, or folders with score files; the paper's values if none.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Of several the one to look at.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.svg", help="Draw the tasks there.", show_default=False)
    ] = None,
) -> None:
    """Say how scores on test and on SocKETTe go together: Pearson's r over tasks, its interval, what single tasks do.

    Only tasks with more than 1,000 test items count; SocKETTe is the test split itself for the others.
    """
    from builders.commands.baseline import run_correlate

    raise typer.Exit(run_correlate(paths or [], model, plot))


@baseline.command(
    epilog=_examples(
        "socket-data baseline train release 'hahackathon#is_humor' --out trial",
        "socket-data baseline train release complaints --model minilm-l6 --recipe minilm-l6-cpu --out trial",
    )
)
def train(
    release: Release,
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task of the release.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the trial; made, or gone on with.")],
    model: Model = "bert-base-uncased",
    recipe: Recipe = "paper",
    settings: Overrides = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="The first seed of the recipe if none is given.")
    ] = None,
) -> None:
    """Fine-tune a model on a task, keep its best checkpoint, and score it on test and SocKETTe.

    A training that was cut off goes on after its last epoch when called again.
    """
    from builders.commands.training import run_train

    raise typer.Exit(run_train(release, task, model, recipe, settings or [], seed, out))


Checkpoint = Annotated[
    Path, typer.Argument(metavar="CHECKPOINT", help="A folder that `train` made: DIR/checkpoint.", show_default=False)
]


@baseline.command(epilog=_examples("socket-data baseline evaluate trial/checkpoint release"))
def evaluate(
    checkpoint: Checkpoint,
    release: Release,
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="TASK", help="Another task with the same labels.", show_default=False),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write a score file there too.", show_default=False)
    ] = None,
) -> None:
    """Score a checkpoint on test and SocKETTe of its task."""
    from builders.commands.training import run_evaluate

    raise typer.Exit(run_evaluate(checkpoint, release, task, json_file))


@baseline.command(epilog=_examples("socket-data baseline predict trial/checkpoint texts.csv --out predictions.parquet"))
def predict(
    checkpoint: Checkpoint,
    texts: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A .parquet, .csv or .jsonl file with `text`, or `text_a` and `text_b`.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.parquet", help="Write the predictions there.")],
) -> None:
    """Predict the labels of texts: of a split of a release, or of your own."""
    from builders.commands.training import run_predict

    raise typer.Exit(run_predict(checkpoint, texts, out))


@baseline.command(
    epilog=_examples(
        "socket-data baseline sweep release --model bert-base-uncased --model deberta-v3-base --out runs",
        "socket-data baseline sweep release --model minilm-l6 --recipe minilm-l6-cpu --out runs",
    )
)
def sweep(
    release: Release,
    out: Runs,
    tasks: Tasks = None,
    models: Annotated[
        list[str] | None, typer.Option("--model", metavar="NAME", help="As for `train`. Can be repeated.")
    ] = None,
    recipe: Recipe = "paper",
    settings: Overrides = None,
    ray: Ray = None,
) -> None:
    """Train and score tasks x models x seeds. What is done is not done again; a trial that fails stops no other."""
    from builders.commands.training import run_sweep

    raise typer.Exit(run_sweep(release, tasks or [], models or ["bert-base-uncased"], recipe, settings or [], out, ray))


@baseline.command("filter", epilog=_examples("socket-data baseline filter release complaints --out runs"))
def filter_(
    release: Release,
    out: Runs,
    tasks: Tasks = None,
    model: Model = "bert-base-uncased",
    recipe: Recipe = "paper",
    settings: Overrides = None,
) -> None:
    """Say whether tasks are hard enough: BERT at or below 0.95 on test, as the mean over seeds, with its interval."""
    from builders.commands.training import run_filter

    raise typer.Exit(run_filter(release, tasks or [], model, recipe, settings or [], out))


def _interrupt(*_) -> None:
    """Being told to end is like Ctrl-C: what was begun is cleared away."""
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line; the exit status is 0 (all well), 1 (something failed) or 2 (wrong usage)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without emoji gets question marks
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        status = app(standalone_mode=False)
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(status)
    except WrongUsage as problem:
        print(f"socket-data: {problem}", file=sys.stderr)
        sys.exit(2)
    except Problem as problem:
        print(f"socket-data: {problem}", file=sys.stderr)
        sys.exit(1)
    except typer.exceptions.TyperException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        print("socket-data: interrupted; nothing that was there has changed.", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.stdout = None  # whoever read has hung up; nothing is left to say
        sys.exit(1)
    except OSError as error:
        print(f"socket-data: {error.filename or 'the output'}: {error.strerror or error}.", file=sys.stderr)
        sys.stdout = None
        sys.exit(1)


if __name__ == "__main__":
    main()
