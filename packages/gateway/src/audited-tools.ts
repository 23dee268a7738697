import type { AuditedTools } from './audit/audit-log.ts'
import type { Gateway } from './gateway/gateway.ts'
import { digestsOf } from './trust/digest.ts'

/** Finds the tools of a gateway for its audit log. */
export function auditedTools({ source, upstreams }: Gateway): AuditedTools {
  const of: AuditedTools['of'] = (upstream, tool) => {
    const definition = upstreams.get(upstream)?.tools.find(({ name }) => name === tool)
    if (definition === undefined) return undefined
    return {
      upstream,
      tool,
      exposedName: source.toolOf(upstream, tool)?.name ?? tool,
      definitionDigest: digestsOf(definition).definition,
    }
  }
  return {
    of,
    exposed(name, client) {
      const servers = client?.server === undefined ? upstreams.names : [client.server]
      for (const server of servers) {
        // At the endpoint of a single server, tools have their own names.
        const original = source.originalName(server, name) ?? (client?.server === undefined ? undefined : name)
        const found = original === undefined ? undefined : of(server, original)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}
