import { documentOf, type SearchDocument } from '@unfold-mcp/core'
import { business } from './catalogue/business.ts'
import { engineering } from './catalogue/engineering.ts'
import { life } from './catalogue/life.ts'
import { office } from './catalogue/office.ts'
import type { OwnServer, OwnTool } from './server.ts'

/** Groups of servers that nobody confuses with each other: a request for one group is foreign to the others. */
export const groups = { business, engineering, office, life } as const

export const ownDocuments: readonly SearchDocument[] = Object.values(groups).flatMap(documentsOf)

/** Returns the documents of servers. Ids: `server.tool`. */
export function documentsOf(servers: readonly OwnServer[]): readonly SearchDocument[] {
  return servers.flatMap(({ name: server, description: serverDescription, tools }) =>
    tools.map(({ name, description, parameters }) =>
      documentOf(
        { name, description, inputSchema: { type: 'object', properties: propertiesOf(parameters) } },
        { id: `${server}.${name}`, source: server, server, serverDescription },
      ),
    ),
  )
}

function propertiesOf(parameters: OwnTool['parameters']): { readonly [name: string]: object } {
  return Object.fromEntries(Object.entries(parameters).map(([name, description]) => [name, { type: 'string', description }]))
}
