import { readlink } from 'node:fs/promises'

const maxSteps = 256

/**
 * Resolves the symbolic links of an absolute path as the kernel does, including links to files that do not exist yet. `undefined` if
 * that is not possible: a folder is not readable, links form a circle, or the path leads through /proc, where it means something else
 * to every process.
 */
export async function realPath(path: string): Promise<string | undefined> {
  const pending = path.split('/').reverse()
  let current = ''
  let isMissing = false
  let steps = 0
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === '' || name === '.') continue
    if (++steps > maxSteps) return undefined
    if (name === '..') {
      current = current.slice(0, Math.max(0, current.lastIndexOf('/')))
      isMissing = false
      continue
    }
    const next = `${current}/${name}`
    if (next === '/proc') return undefined
    const found: Found = isMissing ? 'missing' : await find(next)
    if (found === 'unreadable') return undefined
    if (typeof found === 'string') {
      current = next
      isMissing = found === 'missing'
      continue
    }
    pending.push(...found.target.split('/').reverse())
    if (found.target.startsWith('/')) current = ''
  }
  return current === '' ? '/' : current
}

type Found = { readonly target: string } | 'file' | 'missing' | 'unreadable'

async function find(path: string): Promise<Found> {
  try {
    return { target: await readlink(path) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EINVAL') return 'file'
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable'
  }
}
