/** The values of a server's definition that may be secrets: what is written for its environment and headers, and is no reference. */
export function secretsIn(definition: unknown): readonly string[] {
  if (!isRecord(definition)) return []
  return ['env', 'headers', 'http_headers'].flatMap((key) => {
    const table = definition[key]
    if (!isRecord(table)) return []
    return Object.values(table).filter(
      (value) => typeof value === 'string' && !value.includes(`\${`) && value.length > 3,
    ) as string[]
  })
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
