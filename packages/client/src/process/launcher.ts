import type { CommandTarget } from '../config/target.ts'

/** A program that first installs the server, where it is not there yet, and then runs it. */
export interface Launcher {
  /** Its name, such as `npx` or `docker`. */
  readonly program: string
  /** The packages it installs, as they are written; only for `npx` and `npm exec`, which keep each set in a folder of its own. */
  readonly packages: readonly string[]
}

/** Programs that always are launchers, and those that are with one of these subcommands. */
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

/** The launcher that a command is started through, if any: by its name, wherever it lies, also behind `cmd /c` and `env`. */
export function launcherOf({ command, args = [] }: Pick<CommandTarget, 'command' | 'args'>): Launcher | undefined {
  const [first = '', ...rest] = unwrapped([command, ...args])
  const program = nameOf(first)
  const known = Object.hasOwn(subcommands, program) ? subcommands[program] : undefined
  if (known === undefined) return undefined
  const words = rest.filter((word) => !word.startsWith('-'))
  const isOne = known.length === 0 || known.some((each) => words.slice(0, each.split(' ').length).join(' ') === each)
  if (!isOne) return undefined
  if (program === 'npx') return { program, packages: npxPackages(rest) }
  if (program === 'npm')
    return { program: 'npx', packages: npxPackages(rest.slice(rest.findIndex((word) => word === words[0]) + 1)) }
  return { program, packages: [] }
}

/** The name of a program without its folder and the ending that Windows gives it. */
const nameOf = (command: string): string =>
  (command.split(/[/\\]/u).at(-1) ?? '').toLowerCase().replace(/\.(?:cmd|exe|bat|ps1)$/u, '')

/** A command line without what only passes it on. */
function unwrapped(line: readonly string[]): readonly string[] {
  const [first = '', ...rest] = line
  if (nameOf(first) === 'cmd') {
    const at = rest.findIndex((word) => /^\/[ck]$/iu.test(word))
    return at === -1 ? line : unwrapped(rest.slice(at + 1))
  }
  if (nameOf(first) === 'env') {
    const at = rest.findIndex((word) => !/^-|^[A-Za-z_]\w*=/u.test(word))
    return at === -1 ? line : unwrapped(rest.slice(at))
  }
  return line
}

// The flags of npx that take a value and are usual in front of a package.
const valued = new Set(['-c', '--call', '--cache', '--registry', '--userconfig', '--prefix', '-w', '--workspace', '--loglevel'])

/** What `npx` installs: the packages that flags name, else the one that is run. */
function npxPackages(args: readonly string[]): readonly string[] {
  const named: string[] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    const [, inline] = /^--package=(.+)$/u.exec(word) ?? []
    if (inline !== undefined) named.push(inline)
    else if (word === '-p' || word === '--package') named.push(args[++at] ?? '')
    else if (valued.has(word)) at++
    else if (!word.startsWith('-')) return named.length > 0 ? named : [word]
  }
  return named
}
