import { isRecord, nearest, nearestHint } from '@unfold-mcp/core'
import type { ModuleExports, ScriptEngine, ScriptError, ScriptLimits } from './engine.ts'
import { createTypeStripper, type TypeStripper } from './strip-types.ts'

/** What a script file says about itself with its exports. */
export interface ScriptDeclaration {
  readonly description: string
  readonly title?: string
  /** JSON Schema of the arguments. */
  readonly input?: { readonly [key: string]: unknown }
  /** JSON Schema of the result. */
  readonly output?: { readonly [key: string]: unknown }
  readonly annotations?: { readonly [key: string]: unknown }
}

/** The declaration of a script, or why it is not one. */
export type ReadScript = { readonly declaration: ScriptDeclaration } | { readonly error: ScriptError }

/** Reads what script files export. They run in the sandbox, and cannot call tools. */
export interface ScriptReader extends AsyncDisposable {
  read(source: string): Promise<ReadScript>
}

const limits: ScriptLimits = {
  cpuMs: 1_000,
  wallMs: 10_000,
  memoryBytes: 33_554_432,
  calls: 1,
  outputCharacters: 1_000,
  resultBytes: 262_144,
}

/** Creates a reader that uses, and closes, an engine. */
export function createScriptReader(engine: ScriptEngine, stripper: TypeStripper = createTypeStripper()): ScriptReader {
  return {
    async read(source) {
      const stripped = await stripper.strip(source, { isModule: true })
      if ('error' in stripped) return stripped
      const { signal } = new AbortController()
      const machine = await engine.open({ limits, signal })
      try {
        const turn = await machine.start({ source: stripped.source, form: 'exports' })
        if (turn.kind === 'threw') return { error: withImport(source, turn.error) }
        if (turn.kind === 'returned') return declarationIn(source, turn.value as ModuleExports)
        const [call] = turn.calls
        const line = call?.line
        return {
          error: { ...invalid('Call tools only in the function that the script exports.'), ...(line !== undefined && { line }) },
        }
      } catch (error) {
        return { error: { name: 'Error', message: error instanceof Error ? error.message : String(error) } }
      } finally {
        machine.close()
      }
    },
    async [Symbol.asyncDispose]() {
      await stripper[Symbol.asyncDispose]()
      await engine[Symbol.asyncDispose]()
    },
  }
}

const schemaNames = ['input', 'output'] as const
const knownNames = ['description', 'title', 'input', 'output', 'annotations']

const invalid = (message: string): ScriptError => ({ name: 'Error', message })

function declarationIn(source: string, { type, exports }: ModuleExports): ReadScript {
  const at = (name: string, message: string): ReadScript => ({ error: { ...invalid(message), ...placeOf(source, name) } })
  if (type !== 'function')
    return at('default', 'The script needs a function as its default export: export default async function (input) { … }')
  const { description, title, annotations } = exports
  if (typeof description !== 'string' || description.trim() === '')
    return at('description', "The script needs a description: export const description = '…'")
  const unknown = Object.keys(exports).find((name) => !knownNames.includes(name))
  if (unknown !== undefined)
    return at(
      unknown,
      `Unknown export "${unknown}".${nearestHint(nearest(unknown, knownNames))} Exports: ${knownNames.join(', ')}.`,
    )
  if (title !== undefined && typeof title !== 'string') return at('title', 'title must be text.')
  if (annotations !== undefined && !isRecord(annotations)) return at('annotations', 'annotations must be an object.')
  for (const name of schemaNames) {
    const schema = exports[name]
    if (schema === undefined) continue
    if (!isRecord(schema) || schema.type !== 'object') return at(name, `${name} must be a JSON Schema with type: 'object'.`)
  }
  return { declaration: exports as unknown as ScriptDeclaration }
}

/** The position of an export, as authors usually write it. */
function placeOf(source: string, name: string): { readonly line?: number; readonly column?: number } {
  const pattern = name === 'default' ? /\bexport\s+default\b/u : new RegExp(`\\bexport\\s+(?:const|let|var)\\s+(${name})\\b`, 'u')
  return positionOf(source, pattern)
}

/** The engine does not say where an import is. */
function withImport(source: string, error: ScriptError): ScriptError {
  if (!error.message.startsWith('could not load module')) return error
  const message = 'Scripts cannot import modules. Types can be imported with "import type".'
  return { name: 'SyntaxError', message, ...positionOf(source, /^[ \t]*(?:import\b(?!\s+type\b)|export\s*[*{])[^;'"]*['"]/mu) }
}

function positionOf(source: string, pattern: RegExp): { readonly line?: number; readonly column?: number } {
  const found = pattern.exec(source)
  if (found === null) return {}
  const before = source.slice(0, found.index).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
