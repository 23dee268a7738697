import { Failure, isFailure } from '@unfold-mcp/core'
import type { CodeSettings } from '../catalog/code-options.ts'
import type { ScriptEngine } from '../scripts/engine.ts'
import { createTypeStripper, type Stripped } from '../scripts/strip-types.ts'
import { errorMessage } from '../tool/report.ts'

/** What scripts need to run. It is loaded when the first script runs. */
export class Scripts {
  readonly #open: (() => Promise<ScriptEngine>) | undefined
  #engine: Promise<ScriptEngine> | undefined
  readonly #stripper = createTypeStripper()

  constructor(settings: CodeSettings | undefined) {
    this.#open = settings === undefined ? undefined : (settings.engine ?? openEngine)
  }

  /** Throws `script_unavailable` if the engine cannot be loaded. The next script tries again. */
  engine(): Promise<ScriptEngine> {
    if (this.#open === undefined) throw unavailable('scripts are turned off on this server')
    this.#engine ??= this.#open().catch((error: unknown) => {
      this.#engine = undefined
      throw isFailure(error) ? error : unavailable(errorMessage(error), error)
    })
    return this.#engine
  }

  /** The script as JavaScript. */
  withoutTypes(source: string): Promise<Stripped> {
    return this.#stripper.strip(source)
  }

  async close(): Promise<void> {
    await this.#stripper[Symbol.asyncDispose]()
    const engine = await this.#engine?.catch(() => undefined)
    this.#engine = undefined
    await engine?.[Symbol.asyncDispose]()
  }
}

// Loaded on demand: most servers never run a script.
async function openEngine(): Promise<ScriptEngine> {
  const { quickJsEngine } = await import('../scripts/quickjs/engine.ts')
  return quickJsEngine()
}

function unavailable(problem: string, cause?: unknown): Failure<'script_unavailable'> {
  return new Failure('script_unavailable', `Scripts cannot run: ${problem}.`, { problem }, { cause })
}
