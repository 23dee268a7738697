interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: { readonly [key: string]: Schema }
}

const plain: { readonly [type: string]: unknown } = { string: 'simple', integer: 1, number: 1, boolean: false, array: [] }

/** Returns a value that matches a simple schema, for hosts that request structured output. */
export function sampleOf({ type = 'object', enum: values, properties = {} }: Schema): unknown {
  if (values !== undefined) return values[0]
  const kind = type.toLowerCase()
  if (kind !== 'object') return plain[kind]
  return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, sampleOf(schema)]))
}
