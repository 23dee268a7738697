import type { Endpoint } from './endpoint.ts'
import type { Operation } from './operation.ts'
import { variable, variableName } from './path.ts'
import { emptyShape, type Shape } from './shape.ts'
import { type Schema, shapeSchema } from './shape-schema.ts'

/** Endpoint with its location. */
export interface Known {
  readonly origin: string
  readonly segments: readonly string[]
  readonly path: string
  readonly endpoint: Endpoint
}

const described = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
// Headers that clients send on their own, or that OpenAPI describes elsewhere.
const schemes: { readonly [kind: string]: Schema } = {
  bearer: { type: 'http', scheme: 'bearer' },
  basic: { type: 'http', scheme: 'basic' },
  digest: { type: 'http', scheme: 'digest' },
  negotiate: { type: 'http', scheme: 'negotiate' },
  authorization: { type: 'apiKey', in: 'header', name: 'Authorization' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
}

/** Returns an OpenAPI 3.1 document for one origin. Default: the most frequently called one. */
export function openapiOf(known: readonly Known[], wanted?: string): Schema {
  const origins = originsOf(known)
  const origin = wanted ?? origins[0]
  const here = known.filter((each) => each.origin === origin)
  const kinds = new Set(here.flatMap(({ endpoint }) => endpoint.operations.flatMap(({ auth }) => [...auth].flatMap(partsOf))))
  const securitySchemes = Object.fromEntries([...kinds].sort().map((kind) => [schemeName(kind), schemeOf(kind)]))
  return {
    openapi: '3.1.0',
    info: {
      title: origin === undefined ? 'Nothing seen yet' : `API of ${origin}`,
      version: '0.0.0',
      description: 'Inferred from recorded traffic; not a specification.',
    },
    ...(origin !== undefined && { servers: [{ url: origin }] }),
    paths: Object.fromEntries(here.map((each) => [each.path, pathItem(each)])),
    ...(kinds.size > 0 && { components: { securitySchemes } }),
    ...(origins.length > 1 && { 'x-other-origins': origins.filter((each) => each !== origin) }),
  }
}

function originsOf(known: readonly Known[]): readonly string[] {
  const calls = new Map<string, number>()
  for (const { origin, endpoint } of known) calls.set(origin, (calls.get(origin) ?? 0) + endpoint.calls)
  return [...calls].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([origin]) => origin)
}

function pathItem({ segments, endpoint }: Known): Schema {
  const variables = segments.filter((segment) => segment === variable)
  const operations = endpoint.operations.filter(({ method }) => described.includes(method.toLowerCase()))
  return {
    ...(variables.length > 0 && {
      parameters: variables.map((_, i) => ({
        name: variableName(i + 1),
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
    }),
    ...Object.fromEntries(operations.map((operation) => [operation.method.toLowerCase(), operationObject(operation)])),
  }
}

function operationObject(operation: Operation): Schema {
  const { query, request, requestTypes, auth, calls, answers } = operation
  const parameters = [...(query.object?.fields ?? [])].map(([name, { shape, isOptional }]) => ({
    name,
    in: 'query',
    ...(!isOptional && { required: true }),
    schema: shapeSchema(shape),
  }))
  const security = [...auth].sort().map((kinds) => Object.fromEntries(partsOf(kinds).map((kind) => [schemeName(kind), []])))
  return {
    ...(parameters.length > 0 && { parameters }),
    ...(requestTypes.size > 0 && { requestBody: { content: contentOf([...requestTypes].sort(), request) } }),
    responses: Object.fromEntries(
      answers.map(({ status, contentTypes, body, calls: answered }) => [
        String(status),
        {
          description: answered === 1 ? 'Seen once.' : `Seen ${answered} times.`,
          ...(contentTypes.length > 0 && { content: contentOf(contentTypes, body) }),
        },
      ]),
    ),
    ...(security.some((each) => Object.keys(each).length > 0) && { security }),
    'x-calls': calls,
  }
}

function contentOf(types: readonly string[], shape: Shape): Schema {
  return Object.fromEntries(types.map((type) => [type, shape === emptyShape ? {} : { schema: shapeSchema(shape) }]))
}

function partsOf(kinds: string): readonly string[] {
  return kinds === 'none' ? [] : kinds.split(' + ')
}

function schemeName(kind: string): string {
  return kind.replace(/[^\w.-]/g, '_')
}

function schemeOf(kind: string): Schema {
  return schemes[kind] ?? { type: 'apiKey', in: 'header', name: kind.replace(/^header /, '') }
}
