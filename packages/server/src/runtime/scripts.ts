import { Failure, isFailure } from '@unfold-mcp/core'
import type { CodeSettings } from '../catalog/code-options.ts'
import type { ScriptEngine } from '../scripts/engine.ts'
import { createTypeStripper, type Stripped } from '../scripts/strip-types.ts'
import { errorMessage } from '../tool/report.ts'

const maxModules = 100

/** What scripts need to run. It is loaded when the first script runs. */
export class Scripts {
  readonly #open: (() => Promise<ScriptEngine>) | undefined
  /** One for scripts that clients run, and one for those that these call. */
  readonly #engines = new Map<number, Promise<ScriptEngine>>()
  readonly #stripper = createTypeStripper()
  readonly #modules = new Map<string, Promise<Stripped>>()

  constructor(settings: CodeSettings | undefined) {
    this.#open = settings === undefined ? undefined : (settings.engine ?? openEngine)
  }

  /** Throws `script_unavailable` if the engine cannot be loaded. The next script tries again. */
  engine(depth = 0): Promise<ScriptEngine> {
    if (this.#open === undefined) throw unavailable('scripts are turned off on this server')
    const opened = this.#engines.get(depth)
    if (opened !== undefined) return opened
    const opening = this.#open().catch((error: unknown) => {
      this.#engines.delete(depth)
      throw isFailure(error) ? error : unavailable(errorMessage(error), error)
    })
    this.#engines.set(depth, opening)
    return opening
  }

  /** The script as JavaScript. */
  withoutTypes(source: string, { isModule = false } = {}): Promise<Stripped> {
    if (!isModule) return this.#stripper.strip(source)
    // Modules are stored scripts, which run again.
    const known = this.#modules.get(source)
    if (known !== undefined) return known
    const stripped = this.#stripper.strip(source, { isModule })
    if (this.#modules.size >= maxModules) this.#modules.clear()
    this.#modules.set(source, stripped)
    return stripped
  }

  async close(): Promise<void> {
    await this.#stripper[Symbol.asyncDispose]()
    const engines = [...this.#engines.values()]
    this.#engines.clear()
    for (const opening of engines) await (await opening.catch(() => undefined))?.[Symbol.asyncDispose]()
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
