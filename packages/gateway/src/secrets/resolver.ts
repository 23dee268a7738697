import { resolve as resolvePath } from 'node:path'
import type { SecretReference } from '@unfold-mcp/core'
import { SecretError } from './error.ts'
import { runSecretCommand } from './secret-command.ts'
import { type ResolvedSecret, readSecretFile } from './secret-file.ts'
import { type Passphrase, SecretStore } from './store.ts'

export interface SecretResolverOptions {
  /** Folder of the configuration file; base of relative paths and working directory of commands. */
  readonly folder: string
  /** Folder for the user's data. */
  readonly home: string
  readonly environment: { readonly [name: string]: string | undefined }
  readonly passphrase: Passphrase
}

/** Returns a resolved reference; undefined if it was not resolved. */
export type SecretLookup = (reference: SecretReference) => ResolvedSecret | undefined

// The gateway waits for it when it starts.
const commandTimeoutMs = 20_000

/** Resolves references to secrets. Runs every command that it is asked for: the caller passes only what the user has approved. */
export class SecretResolver {
  readonly #options: SecretResolverOptions
  readonly #store: SecretStore
  readonly #outputs = new Map<string, ResolvedSecret>()

  constructor(options: SecretResolverOptions) {
    this.#options = options
    this.#store = new SecretStore(options.home, options)
  }

  /** Resolves references. The output of a command is reused, unless `isRefreshed` is set or the command failed. */
  async resolve(references: readonly SecretReference[], { isRefreshed = false } = {}): Promise<SecretLookup> {
    const distinct = new Map(references.map((reference) => [reference.text, reference]))
    const resolved = new Map<string, ResolvedSecret>()
    await Promise.all(
      [...distinct].map(async ([text, reference]) => resolved.set(text, await this.#resolve(reference, isRefreshed))),
    )
    return ({ text }) => resolved.get(text)
  }

  async #resolve({ kind, argument }: SecretReference, isRefreshed: boolean): Promise<ResolvedSecret> {
    if (argument.trim() === '') return { problem: `is empty. Add ${needed[kind]} after the colon.` }
    if (kind === 'file') return readSecretFile(resolvePath(this.#options.folder, argument))
    if (kind === 'command') return this.#run(argument, isRefreshed)
    try {
      return { value: await this.#store.get(argument) }
    } catch (error) {
      if (error instanceof SecretError) return { problem: error.message }
      throw error
    }
  }

  async #run(command: string, isRefreshed: boolean): Promise<ResolvedSecret> {
    const known = this.#outputs.get(command)
    if (known !== undefined && !isRefreshed) return known
    const { folder: cwd, environment } = this.#options
    const result = await runSecretCommand(command, { cwd, environment, timeoutMs: commandTimeoutMs })
    if ('value' in result) this.#outputs.set(command, result)
    else this.#outputs.delete(command)
    return result
  }
}

const needed: { readonly [K in SecretReference['kind']]: string } = {
  keyring: 'the name of a secret',
  file: 'a path',
  command: 'a command',
}
