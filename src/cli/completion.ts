import { type Command, UsageError } from './command.ts';

/** A script for the shell, made from the table of commands; it calls nothing when it completes. */
export function completionScript(shell: string, commands: readonly Command[]): string {
  if (shell === 'bash') return bashScript(commands);
  // zsh reads bash completions through its own compatibility layer.
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
  if (shell === 'fish') return fishScript(commands);
  throw new UsageError(`There is no completion for "${shell}", but for bash, zsh and fish.`);
}

function bashScript(commands: readonly Command[]): string {
  const words = firstWords(commands);
  const groups = [...groupsOf(commands)].map(([first, seconds]) => `    ${first}) words="${seconds.join(' ')}" ;;`);
  const options = commands.map(
    ({ name, options: known }) => `    "${name}") options="${optionNames(known).join(' ')}" ;;`,
  );
  return `_tollgate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" words="" options=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${words.join(' ')} --help --version" -- "$current"))
    return
  fi
  case "$first" in
${groups.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 2 ] && [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$first\${words:+ $second}" in
${options.join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options --help" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -o filenames -F _tollgate tollgate`;
}

function fishScript(commands: readonly Command[]): string {
  const isFirst = '__fish_use_subcommand';
  const lines = firstWords(commands).map((word) => `complete -c tollgate -f -n ${isFirst} -a ${word}`);
  for (const [first, seconds] of groupsOf(commands)) {
    const isNext = `"__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${seconds.join(' ')}"`;
    lines.push(`complete -c tollgate -f -n ${isNext} -a "${seconds.join(' ')}"`);
  }
  for (const { name, options } of commands) {
    const seen = name.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
    for (const [option, { value, short, summary }] of Object.entries(options)) {
      const letter = short === undefined ? '' : ` -s ${short}`;
      const takes = value === undefined ? '' : ' -r';
      lines.push(
        `complete -c tollgate -n "${seen.join('; and ')}" -l ${option}${letter}${takes} -d ${quotedForFish(summary)}`,
      );
    }
  }
  return lines.join('\n');
}

function quotedForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function firstWords(commands: readonly Command[]): readonly string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
}

/** The second words of those commands that have one, by their first. */
function groupsOf(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ');
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second]);
  }
  return groups;
}

function optionNames(options: Command['options']): readonly string[] {
  return Object.entries(options).flatMap(([name, { short }]) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
}
