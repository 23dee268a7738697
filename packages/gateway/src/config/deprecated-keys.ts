import { isRecord } from '@unfold-mcp/core'

/** Renames `about` to `description`. If an object has both, the old key stays and is reported as unknown. */
export function renameDeprecatedKeys(config: unknown): unknown {
  if (!isRecord(config)) return config
  const sections = ['mcpServers', 'groups'].filter((section) => isRecord(config[section]))
  const renamed = sections.map((section) => {
    const members = Object.entries(config[section] as object).map(([name, member]) => [name, withDescription(member)])
    return [section, Object.fromEntries(members)]
  })
  return { ...config, ...Object.fromEntries(renamed) }
}

function withDescription(member: unknown): unknown {
  if (!isRecord(member) || !('about' in member) || 'description' in member) return member
  const { about, ...rest } = member
  return { ...rest, description: about }
}
