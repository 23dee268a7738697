import { nearest, nearestHint, printable, type Tool } from '@unfold-mcp/core'

/** Paths in a script are identifiers, so `tools.my_server.read_file` also means `my-server__read-file`. */
const keyOf = (name: string): string => name.replaceAll(/[^\p{L}\p{N}]+/gu, '_').toLowerCase()

/** Finds the tool that a script means by an exact name or a path such as `github.create_issue`. */
export function toolAt(path: string, tools: ReadonlyMap<string, Tool>): string | undefined {
  if (tools.has(path)) return path
  const joined = path.replaceAll('.', '__')
  if (tools.has(joined)) return joined
  const key = keyOf(path)
  const similar = [...tools.keys()].filter((name) => keyOf(name) === key)
  return similar.length === 1 ? similar[0] : undefined
}

export function unknownPath(path: string, tools: ReadonlyMap<string, Tool>): string {
  const close = nearest(path.replaceAll('.', '__'), [...tools.keys()])
  return `There is no tool "${printable(path)}".${nearestHint(close)} Find tools with search("…").`
}
