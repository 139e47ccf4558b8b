"""`samovar completion`: shell completion scripts, generated from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from samovar.cli.output import Output
from samovar.cli.parser import Parser

SHELLS = ("bash", "zsh", "fish")


def add_commands(found: Any, make: Callable[[], Parser]) -> None:
    """Add the command to the parser; `make` returns an equivalent parser."""
    completion = found.add_parser(
        "completion",
        help="print a shell completion script",
        description='For bash: eval "$(samovar completion bash)"; for zsh: eval "$(samovar completion zsh)" after compinit; '
        "for fish: samovar completion fish | source.",
    )
    completion.add_argument("shell", choices=SHELLS, metavar="shell", help=", ".join(SHELLS))
    completion.set_defaults(run=lambda given, output: _complete(given, output, make()), json=False)


def _complete(given: argparse.Namespace, output: Output, parser: Parser) -> int:
    words = _words(parser, "")
    output.say({"bash": _bash, "zsh": _zsh, "fish": _fish}[given.shell](words))
    return 0


def _words(parser: Parser, path: str) -> dict[str, list[str]]:
    """Return the words that may follow each chain of commands: commands, choices and options."""
    found = {path: [*parser.choices, *parser.options]}
    for name, each in parser.commands.items():
        found.update(_words(each, f"{path} {name}".strip()))
    return found


#: The chain of commands typed so far: the longest known one.
_CHAIN = """\
  local chain="" word
  for word in {words}; do
    case " ${{chain}} ${{word}} " in
{cases}
    esac
  done"""


def _cases(words: dict[str, list[str]], indent: str) -> str:
    return "\n".join(f'{indent}" {path if " " in path else " " + path} ") chain="{path}" ;;' for path in words if path)


def _answers(words: dict[str, list[str]], indent: str) -> str:
    """Commands and choices, and the options, which are offered after a dash."""
    lines = []
    for path, each in words.items():
        names = " ".join(word for word in each if not word.startswith("-"))
        options = " ".join(word for word in each if word.startswith("-"))
        lines.append(f'{indent}"{path}") found="{names}" options="{options}" ;;')
    return "\n".join(lines)


def _bash(words: dict[str, list[str]]) -> str:
    chain = _CHAIN.format(words='"${COMP_WORDS[@]:1:COMP_CWORD-1}"', cases=_cases(words, "      "))
    return f"""_samovar() {{
{chain}
  local found="" options="" begun="${{COMP_WORDS[COMP_CWORD]}}"
  case "$chain" in
{_answers(words, "    ")}
  esac
  [[ $begun == -* ]] && found=$options
  COMPREPLY=($(compgen -W "$found" -- "$begun"))
}}
complete -o default -F _samovar samovar"""


def _zsh(words: dict[str, list[str]]) -> str:
    chain = _CHAIN.format(words='"${(@)words[2,CURRENT-1]}"', cases=_cases(words, "      "))
    return f"""#compdef samovar
_samovar() {{
{chain}
  local found="" options=""
  case "$chain" in
{_answers(words, "    ")}
  esac
  [[ ${{words[CURRENT]}} == -* ]] && found=$options
  if [[ -n $found ]]; then compadd -- ${{=found}}; else _files; fi
}}
compdef _samovar samovar"""


def _fish(words: dict[str, list[str]]) -> str:
    lines = []
    for path, each in words.items():
        parents = path.split()
        seen = [f"__fish_seen_subcommand_from {name}" for name in parents]
        below = [name for name in words if name and name != path and name.startswith(f"{path} ".lstrip())]
        later = {name.removeprefix(path).split()[0] for name in below}
        unseen = [f"not __fish_seen_subcommand_from {' '.join(sorted(later))}"] if later else []
        condition = "; and ".join([*seen, *unseen]) or "true"
        for word in each:
            if word.startswith("--"):
                lines.append(f"complete -c samovar -n '{condition}' -l {word[2:]}")
            elif word.startswith("-"):
                lines.append(f"complete -c samovar -n '{condition}' -s {word[1:]}")
            else:
                lines.append(f"complete -c samovar -n '{condition}' -f -a {word}")
    return "\n".join(lines)
