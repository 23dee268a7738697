import { homedir } from 'node:os'
import { sep } from 'node:path'
import { hasNetwork, type Sandbox } from '../config/sandbox.ts'
import { isFolder, isInside, type Link, realOrSame, resolveLinks, statOf } from './path.ts'

/** What a process may do with a path and everything in it. A later kind wins over an earlier one for the same path. */
const kinds = ['program', 'hide', 'read', 'write'] as const

interface Mount {
  readonly path: string
  readonly kind: (typeof kinds)[number]
}

// Programs and libraries; NixOS and Guix have theirs in a store.
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store']
// What programs read to find libraries, users, hosts, certificates and time zones; none of it is secret.
const systemFiles = [
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'ld-musl-x86_64.path', 'ld-musl-aarch64.path', 'alternatives', 'localtime'],
  ...['timezone', 'passwd', 'group', 'nsswitch.conf', 'hosts', 'host.conf', 'gai.conf', 'protocols', 'services', 'resolv.conf'],
  ...['ssl/certs', 'ssl/cert.pem', 'ssl/openssl.cnf', 'pki/tls/certs', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf', 'pki/ca-trust'],
  ...['crypto-policies', 'ca-certificates', 'mime.types', 'os-release', 'locale.conf', 'fonts'],
].map((name) => `/etc/${name}`)
// NixOS starts programs through it.
const runFolders = ['/run/current-system']
// Sockets of other programs, such as Docker's, work on a read-only mount too.
const temporary = ['/tmp', '/var/tmp', '/run']

/** Folders that are empty in every sandbox, and whose content does not survive the process. */
export const privateFolders = (home: string | undefined): readonly string[] => [
  ...new Set([...temporary, '/home', '/root', ...homes(home)].filter(isFolder).map(realOrSame)),
]

/** Home folders: of this user, and the one in the environment of the server. */
function homes(home: string | undefined): readonly string[] {
  // A container may run as a user without a home folder, which is then "/".
  return [homedir(), home ?? ''].filter((path) => path !== '' && realOrSame(path) !== '/')
}

export interface View {
  readonly sandbox: Sandbox
  /** `HOME` of the server. */
  readonly home: string | undefined
  /** Files that the program needs of itself. */
  readonly program: readonly string[]
  readonly links: readonly Link[]
  readonly cwd: string
}

/** Mounts that show a process only what its sandbox allows. Throws for a named path that does not exist. */
export function mountFlags({ sandbox, home, program, links, cwd }: View): readonly string[] {
  const { preset, read = [], write = [], hide = [] } = sandbox
  const isStrict = preset === 'strict'
  const named = [...resolvedPaths('read', read), ...resolvedPaths('write', write)]
  const resolver = hasNetwork(sandbox) ? resolveLinks('/etc/resolv.conf') : undefined
  const hidden = privateFolders(home)
  const mounts = inOrder([
    ...hidden.map((path) => ({ path, kind: 'hide' }) as const),
    ...hide.filter((path) => statOf(path) !== undefined).map((path) => ({ path: realOrSame(path), kind: 'hide' }) as const),
    ...[...program, ...runFolders, ...(resolver === undefined ? [] : [resolver.real])]
      .filter((path) => statOf(path) !== undefined)
      .map((path) => ({ path: realOrSame(path), kind: 'program' }) as const),
    ...named.map(({ path, kind }) => ({ path, kind })),
  ])
  const base = isStrict ? strictBase() : ['--ro-bind', '/', '/']
  const isVisible = (path: string): boolean => {
    const [nearest] = mounts.filter((mount) => isInside(path, mount.path)).slice(-1)
    if (nearest !== undefined) return nearest.kind !== 'hide'
    return (
      !isStrict || [...systemFolders, ...systemFiles].some((each) => isInside(path, each) || isInside(path, realOrSame(each)))
    )
  }
  const allLinks = [...links, ...named.flatMap((each) => each.links), ...(resolver?.links ?? [])]
  return [
    ...base,
    ...mounts.flatMap((mount) => (needsMount(mount, mounts, { isStrict, hidden }) ? flagsFor(mount) : [])),
    ...uniqueLinks(allLinks).flatMap(({ path, target }) =>
      isVisible(path) || isInside(path, '/etc') ? [] : ['--symlink', target, path],
    ),
    // The working directory exists, empty if it is not readable.
    ...(isVisible(cwd) ? [] : ['--dir', cwd]),
    // Last, so that no named path can show the processes and devices of the host.
    ...['--dev', '/dev', '--proc', '/proc'],
    ...(isStrict && !mounts.some(({ path }) => path === '/') ? ['--remount-ro', '/'] : []),
    ...['--chdir', cwd],
  ]
}

const strictBase = (): readonly string[] =>
  [...systemFolders, ...systemFiles].flatMap((path) => {
    const resolved = resolveLinks(path)
    const [link] = resolved?.links ?? []
    if (resolved === undefined) return []
    // As on the host, /bin may be a link to /usr/bin, and files in /etc often link to /usr.
    return link?.path === path ? ['--symlink', link.target, path] : ['--ro-bind', path, path]
  })

function resolvedPaths(
  kind: 'read' | 'write',
  paths: readonly string[],
): readonly (Mount & { readonly links: readonly Link[] })[] {
  return paths.map((path) => {
    const resolved = resolveLinks(path)
    if (resolved === undefined) throw new SandboxPathError(kind, path)
    return { path: resolved.real, kind, links: resolved.links }
  })
}

/** A named path does not exist. */
export class SandboxPathError extends Error {
  readonly kind: 'read' | 'write'
  readonly path: string

  constructor(kind: 'read' | 'write', path: string) {
    super(`sandbox.${kind}: ${path} does not exist`)
    this.kind = kind
    this.path = path
  }
}

/** Outer paths first, so that the rule for the inner path holds. One mount per path. */
function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  const byPath = new Map<string, Mount>()
  for (const mount of mounts) {
    const before = byPath.get(mount.path)
    if (before === undefined || kinds.indexOf(before.kind) < kinds.indexOf(mount.kind)) byPath.set(mount.path, mount)
  }
  return [...byPath.values()].sort((a, b) => depth(a.path) - depth(b.path))
}

const depth = (path: string): number => path.split(sep).filter((part) => part !== '').length

/** False if the path is in the state that the mount would create. */
function needsMount(
  mount: Mount,
  mounts: readonly Mount[],
  { isStrict, hidden }: { readonly isStrict: boolean; readonly hidden: readonly string[] },
): boolean {
  const { path, kind } = mount
  const [outer] = mounts.filter((each) => each !== mount && isInside(path, each.path)).slice(-1)
  if (kind === 'hide') return hidden.includes(path) || (outer === undefined ? !isStrict : outer.kind !== 'hide')
  if (kind !== 'program') return true
  if (outer !== undefined) return outer.kind === 'hide'
  return isStrict && !systemFolders.some((folder) => isInside(path, realOrSame(folder)))
}

function flagsFor({ path, kind }: Mount): readonly string[] {
  if (kind === 'hide') return isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]
  return [kind === 'write' ? '--bind' : '--ro-bind', path, path]
}

const uniqueLinks = (links: readonly Link[]): readonly Link[] => [...new Map(links.map((link) => [link.path, link])).values()]
