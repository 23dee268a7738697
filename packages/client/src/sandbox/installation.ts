import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import type { CommandTarget } from '../config/target.ts'
import { launcherOf } from '../process/launcher.ts'
import { isFile } from './path.ts'

/** How a launcher installs a server into a folder of its own, and what to run then. */
export interface Installation {
  /** Readable for the server, writable only while it is being installed. */
  readonly folder: string
  /** Shell script that installs; its working directory is `folder`. */
  readonly script: string
  /** Program that installs. */
  readonly program: string
  readonly env: Readonly<Record<string, string>>
  readonly command: string
  readonly args: readonly string[]
}

/** File written after a complete installation. Not in the folder, where a link with its name could point anywhere. */
export const markOf = ({ folder }: Pick<Installation, 'folder'>): string => `${folder}.installed`

export const isInstalled = (installation: Installation): boolean => existsSync(markOf(installation))

/** Folder into which a server has to be installed before it can run in its sandbox; `undefined` if that is done or not needed. */
export function pendingSandboxInstall(target: CommandTarget): string | undefined {
  const supply = supplyOf(target)
  return supply.kind === 'install' && !isInstalled(supply.installation) ? supply.installation.folder : undefined
}

/** Launchers that need the daemon of a container runtime, which starts the server outside of any sandbox. */
const containers = new Set(['docker', 'podman', 'nerdctl'])

/** How a command gets its program: it is there, it has to be installed first, or it gets it on its own, which may need the network. */
export type Supply =
  | { readonly kind: 'program' }
  | { readonly kind: 'local'; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'install'; readonly installation: Installation }
  | { readonly kind: 'launcher'; readonly program: string }
  | { readonly kind: 'container'; readonly program: string }

export function supplyOf(target: CommandTarget): Supply {
  const launcher = launcherOf(target)
  if (launcher === undefined) return { kind: 'program' }
  const { program } = launcher
  if (containers.has(program)) return { kind: 'container', program }
  const { command, args = [], cwd = process.cwd() } = target
  const parsed = parse(basename(command), basename(command) === 'npm' ? withoutSeparator(args) : args)
  if (parsed === undefined) return { kind: 'launcher', program }
  const local = parsed.kind === 'npm' && parsed.packages.length === 0 ? localProgram(cwd, parsed.command) : undefined
  if (local !== undefined) return { kind: 'local', command: local, args: parsed.args }
  const build = parsed.kind === 'npm' ? npmInstallation : uvInstallation
  return { kind: 'install', installation: build(parsed, target) }
}

interface Parsed {
  readonly kind: 'npm' | 'uv'
  /** Flags that select the packages, without the packages. */
  readonly flags: readonly string[]
  /** Packages named by flags. */
  readonly packages: readonly string[]
  /** Command to run, or the package that contains it. */
  readonly command: string
  readonly args: readonly string[]
}

interface Grammar {
  readonly kind: Parsed['kind']
  readonly subcommand: number
  readonly packageFlags: readonly string[]
  readonly valueFlags: readonly string[]
  readonly dropped: readonly string[]
}

const npm: Grammar = {
  kind: 'npm',
  subcommand: 0,
  packageFlags: ['-p', '--package'],
  valueFlags: ['--registry', '--userconfig', '--loglevel', '--before', '--omit', '--include'],
  dropped: ['-y', '--yes', '-q', '--quiet', '--prefer-online'],
}

const uv: Grammar = {
  kind: 'uv',
  subcommand: 0,
  packageFlags: ['--from'],
  valueFlags: [
    ...['--with', '--python', '-p', '--index', '--default-index', '--index-url', '-i', '--extra-index-url', '--find-links', '-f'],
    ...['--index-strategy', '--keyring-provider', '--prerelease', '--resolution', '--exclude-newer', '--with-requirements'],
  ],
  dropped: ['-q', '--quiet', '--isolated'],
}

const grammars: { readonly [program: string]: Grammar } = {
  npx: npm,
  npm: { ...npm, subcommand: 1 },
  uvx: uv,
  uv: { ...uv, subcommand: 2 },
}

/** Parses the arguments of `npx`, `npm exec`, `uvx` and `uv tool run`. `undefined` for anything that is not known to be equivalent. */
function parse(program: string, all: readonly string[]): Parsed | undefined {
  const grammar = Object.hasOwn(grammars, program) ? grammars[program] : undefined
  if (grammar === undefined || (program === 'uv' && all[0] !== 'tool')) return undefined
  const { kind, packageFlags, valueFlags, dropped, subcommand } = grammar
  const args = all.slice(subcommand)
  const flags: string[] = []
  const packages: string[] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    const [name, inline] = word.startsWith('--') ? splitFlag(word) : [word]
    const value = inline ?? args[at + 1] ?? ''
    if (word === '--') return commandIn({ kind, flags, packages }, args.slice(at + 1))
    if (!word.startsWith('-')) return commandIn({ kind, flags, packages }, args.slice(at))
    if (packageFlags.includes(name)) packages.push(value)
    else if (valueFlags.includes(name)) flags.push(name, value)
    else if (!dropped.includes(name)) return undefined
    if (inline === undefined && (packageFlags.includes(name) || valueFlags.includes(name))) at++
  }
  return undefined
}

/** `npm exec` takes flags after the command for its own, up to `--`. Without it, they are left where they make the line unknown. */
function withoutSeparator(args: readonly string[]): readonly string[] {
  const at = args.indexOf('--')
  const [own, rest] = at === -1 ? [args, []] : [args.slice(0, at), args.slice(at + 1)]
  const flags = own.slice(1).filter((word) => word.startsWith('-'))
  const words = own.slice(1).filter((word) => !word.startsWith('-'))
  return [own[0] ?? '', ...flags, ...words, ...rest]
}

function splitFlag(word: string): readonly [string, string?] {
  const at = word.indexOf('=')
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)]
}

function commandIn(parsed: Pick<Parsed, 'kind' | 'flags' | 'packages'>, line: readonly string[]): Parsed | undefined {
  const [command = '', ...args] = line
  const all = [...parsed.packages, command]
  // A folder or an archive on this machine is not readable while packages are being installed.
  if (command === '' || all.some((each) => /^(?:[./~]|file:)|^-/u.test(each))) return undefined
  return { ...parsed, command, args }
}

/** Program of a project that `npx` finds instead of installing a package of that name. */
function localProgram(cwd: string, command: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', '.bin', command)
    if (isFile(file)) return file
    if (folder === dirname(folder)) return undefined
  }
}

/** Links the program of the only dependency to `program`, as `npx` chooses it. */
const linkProgram = `
const { readFileSync, symlinkSync, rmSync } = require('node:fs')
const [name] = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies)
const { bin } = JSON.parse(readFileSync('node_modules/' + name + '/package.json', 'utf8'))
const short = name.replace(/^@[^/]+\\//, '')
const all = typeof bin === 'string' ? { [short]: bin } : bin ?? {}
const file = new Set(Object.values(all)).size === 1 ? Object.values(all)[0] : all[short]
if (file === undefined) throw new Error(name + ' has ' + (Object.keys(all).length === 0 ? 'no command' : 'several commands: ' + Object.keys(all).join(', ')) + '. Name it: npx -p ' + name + ' <command>')
rmSync('program', { force: true })
symlinkSync('node_modules/' + name + '/' + file, 'program')
`

function npmInstallation({ flags, packages, command, args }: Parsed, target: CommandTarget): Installation {
  const folder = folderFor(target, ['npm', ...flags, ...(packages.length === 0 ? [command] : packages)])
  const program = sibling(target, 'npm')
  const install = [program, 'install', '--no-audit', '--no-fund', '--no-update-notifier', ...flags, '--']
  const specs = packages.length === 0 ? [command] : packages
  return {
    folder,
    program,
    script: [`rm -rf node_modules package.json package-lock.json`, `echo '{}' > package.json`, quoted([...install, ...specs])]
      .concat(packages.length === 0 ? [quoted(['node', '-e', linkProgram])] : [])
      .join(' && '),
    env: { npm_config_cache: join(folder, 'cache') },
    command: packages.length === 0 ? join(folder, 'program') : join(folder, 'node_modules', '.bin', command),
    args,
  }
}

function uvInstallation({ flags, packages, command, args }: Parsed, target: CommandTarget): Installation {
  const [from = command] = packages
  const folder = folderFor(target, ['uv', ...flags, from, command])
  const program = sibling(target, 'uv')
  const [, name = command] = /^([^@[=<>!~\s]+)/u.exec(command) ?? []
  return {
    folder,
    program,
    script: quoted([program, 'tool', 'install', '--force', ...flags, '--', from]),
    env: {
      UV_CACHE_DIR: join(folder, 'cache'),
      UV_TOOL_DIR: join(folder, 'tools'),
      UV_TOOL_BIN_DIR: join(folder, 'bin'),
      UV_PYTHON_INSTALL_DIR: join(folder, 'python'),
    },
    command: join(folder, 'bin', name),
    args,
  }
}

/** The program of the same installation, `npm` for `npx`. Absolute, because it is not run in the working directory of the server. */
const sibling = ({ command, cwd = '.' }: CommandTarget, name: string): string =>
  command.includes('/') ? resolve(cwd, dirname(command), name) : name

function folderFor({ sandbox, env = {} }: CommandTarget, parts: readonly string[]): string {
  const settings = Object.entries(env).filter(([name]) => isInstallVariable(name))
  const digest = createHash('sha256')
    .update(JSON.stringify([parts, settings.toSorted(([a], [b]) => (a < b ? -1 : 1))]))
    .digest('hex')
  return join(sandbox?.installs ?? defaultInstalls(), digest.slice(0, 16))
}

const defaultInstalls = (): string => {
  const { XDG_CACHE_HOME: cache = '' } = process.env
  return join(cache.startsWith('/') ? cache : join(homedir(), '.cache'), 'unfold', 'sandbox')
}

/** True for settings of package managers and proxies. Other variables of a server, such as its keys, are not there while it is installed. */
export const isInstallVariable = (name: string): boolean =>
  /^(?:npm_config_|uv_|pip_|(?:https?|all|no)_proxy$|node_extra_ca_certs$|ssl_cert_(?:file|dir)$|path$)/iu.test(name)

/** A command line for `sh`. */
export const quoted = (words: readonly string[]): string => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
