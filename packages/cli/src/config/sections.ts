import { printable } from '@unfold-mcp/core'
import type { ServerEntry } from './definition.ts'
import { type Item, isList, isTable, typeName } from './document.ts'
import { dialectFor, entryIn } from './formats/dialects.ts'
import type { ConfigLocation } from './locations.ts'
import type { Problem } from './problem.ts'
import { foldersAbove, pathModule, type System } from './system.ts'

export interface Sections {
  readonly servers: readonly ServerEntry[]
  readonly problems: readonly Problem[]
}

/** Finds the server entries of a file. */
export function sectionsOf(root: Item, location: ConfigLocation, system: System): Sections {
  const problems: Problem[] = []
  const fail = ({ line, column }: Item, message: string): void =>
    void problems.push({ file: location.file, line, column, message })
  if (!isTable(root.value)) {
    fail(root, `Must contain an object, not ${typeName(root.value)}.`)
    return { servers: [], problems }
  }
  const fields = root.value
  const dialect = dialectFor(location, new Set(fields.keys()))
  const { keys } = dialect
  const present = keys.filter((key) => fields.has(key))
  if (present.length === 0 && location.shape === 'servers' && [...fields.keys()].some((key) => !key.startsWith('$')))
    fail(root, `Missing "${keys[0]}". Define servers in an object of that name.`)
  const inputs = inputsOf(fields.get('inputs'))
  const servers = present.flatMap((key) =>
    (dialect.isList === true ? listed : named)(fields.get(key), key, fail).flatMap(({ name, item: written }) => {
      const item = entryIn(dialect, written)
      return item === undefined ? [] : [{ name, item, folder: location.folder }]
    }),
  )
  const more = location.shape === 'claude' ? perProject(fields.get('projects'), system, fail) : []
  const sandbox = location.client === 'unfold' ? fields.get('sandbox') : undefined
  const shared = { location, dialect, inputs, ...(sandbox !== undefined && { sandbox }) }
  return { servers: [...servers, ...more].map((each) => ({ ...each, ...shared })), problems }
}

type Fail = (item: Item, message: string) => void

function named(item: Item | undefined, key: string, fail: Fail): readonly { readonly name: string; readonly item: Item }[] {
  if (item === undefined) return []
  if (!isTable(item.value)) {
    fail(item, `"${key}" must be an object of servers, not ${typeName(item.value)}.`)
    return []
  }
  return [...item.value].flatMap(([name, each]) => {
    if (name.trim() !== '') return [{ name, item: each }]
    fail(each, `A server in "${key}" has no name.`)
    return []
  })
}

/** For files that store servers as a list with a `name` field. */
function listed(list: Item | undefined, key: string, fail: Fail): ReturnType<typeof named> {
  if (list === undefined || !isList(list.value)) return named(list, key, fail)
  return list.value.flatMap((item) => {
    const name = isTable(item.value) ? item.value.get('name')?.value : undefined
    if (typeof name === 'string' && name.trim() !== '') return [{ name, item }]
    fail(item, `A server in "${key}" has no name.`)
    return []
  })
}

/** Servers that Claude Code stores per project in the user's file. */
function perProject(item: Item | undefined, { platform, cwd }: System, fail: Fail) {
  if (item === undefined || !isTable(item.value)) return []
  const paths = pathModule(platform)
  const same = (path: string): string => (platform === 'win32' ? paths.normalize(path).toLowerCase() : paths.normalize(path))
  const above = new Set(foldersAbove(paths.resolve(cwd), platform).map(same))
  return [...item.value].flatMap(([folder, project]) => {
    if (!isTable(project.value) || !above.has(same(folder))) return []
    const key = `projects["${printable(folder)}"].mcpServers`
    return named(project.value.get('mcpServers'), key, fail).map((each) => ({
      ...each,
      folder: paths.normalize(folder),
      isProject: true,
    }))
  })
}

/** VS Code inputs: descriptions by ID. */
function inputsOf(item: Item | undefined): ReadonlyMap<string, string> {
  const inputs = new Map<string, string>()
  if (item === undefined || !isList(item.value)) return inputs
  for (const { value } of item.value) {
    if (!isTable(value)) continue
    const id = value.get('id')?.value
    const description = value.get('description')?.value
    if (typeof id === 'string') inputs.set(id, typeof description === 'string' ? description : '')
  }
  return inputs
}
