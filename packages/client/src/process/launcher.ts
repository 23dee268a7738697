import type { CommandTarget } from '../config/target.ts'

/** Program that installs a server if necessary and then runs it. */
export interface Launcher {
  /** Such as `npx` or `docker`. */
  readonly program: string
  /** Packages as written; only for `npx` and `npm exec`, which keep each set of packages in its own folder. */
  readonly packages: readonly string[]
}

/** Subcommands that make a program a launcher; none: always. */
const subcommands: { readonly [program: string]: readonly string[] } = {
  npx: [],
  pnpx: [],
  bunx: [],
  uvx: [],
  npm: ['exec', 'x'],
  pnpm: ['dlx'],
  yarn: ['dlx'],
  bun: ['x'],
  uv: ['tool run', 'run'],
  pipx: ['run'],
  docker: ['run', 'container run'],
  podman: ['run', 'container run'],
  nerdctl: ['run', 'container run'],
}

/** Detects the launcher of a command, in any folder and behind `cmd /c` or `env`. */
export function launcherOf({ command, args = [] }: Pick<CommandTarget, 'command' | 'args'>): Launcher | undefined {
  const [first = '', ...rest] = withoutShellWrapper([command, ...args])
  const program = nameOf(first)
  const known = Object.hasOwn(subcommands, program) ? subcommands[program] : undefined
  if (known === undefined) return undefined
  const words = rest.filter((word) => !word.startsWith('-'))
  const isOne = known.length === 0 || known.some((each) => words.slice(0, each.split(' ').length).join(' ') === each)
  if (!isOne) return undefined
  if (program === 'npx') return { program, packages: npxPackages(rest) }
  if (program === 'npm') return { program: 'npx', packages: npxPackages(rest.slice(rest.indexOf(words[0] ?? '') + 1)) }
  return { program, packages: [] }
}

const nameOf = (command: string): string =>
  (command.split(/[/\\]/u).at(-1) ?? '').toLowerCase().replace(/\.(?:cmd|exe|bat|ps1)$/u, '')

/** Removes a leading `cmd /c` or `env`. */
function withoutShellWrapper(line: readonly string[]): readonly string[] {
  const [first = '', ...rest] = line
  if (nameOf(first) === 'cmd') {
    const at = rest.findIndex((word) => /^\/[ck]$/iu.test(word))
    return at === -1 ? line : withoutShellWrapper(rest.slice(at + 1))
  }
  if (nameOf(first) === 'env') {
    const at = rest.findIndex((word) => !/^-|^[A-Za-z_]\w*=/u.test(word))
    return at === -1 ? line : withoutShellWrapper(rest.slice(at))
  }
  return line
}

// Common npx flags that take a value.
const flagsWithValue = new Set([
  ...['-c', '--call', '--cache', '--registry', '--userconfig', '--prefix', '-w', '--workspace', '--loglevel'],
])

/** Returns the packages that `npx` installs: those named by flags, else the one it runs. */
function npxPackages(args: readonly string[]): readonly string[] {
  const named: string[] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    const [, inline] = /^--package=(.+)$/u.exec(word) ?? []
    if (inline !== undefined) named.push(inline)
    else if (word === '-p' || word === '--package') named.push(args[++at] ?? '')
    else if (flagsWithValue.has(word)) at++
    else if (!word.startsWith('-')) return named.length > 0 ? named : [word]
  }
  return named
}
