import type { Tool } from '@unfold-mcp/core'
import type { SelfDescription } from '../catalog/groups.ts'
import type { UpstreamSource } from '../catalog/source.ts'
import type { Config } from '../config/schema.ts'
import type { Admissible, UpstreamProxy } from '../proxy/proxy.ts'
import type { TrustGate } from '../trust/gate.ts'

export interface AdmissionOptions {
  readonly trust: TrustGate
  readonly source: () => UpstreamSource
  readonly proxy: () => UpstreamProxy
}

/** Passes everything that servers offer through the trust gate, again after each decision. */
export class Admission {
  readonly #options: AdmissionOptions
  /** As the servers describe themselves. */
  readonly #descriptions = new Map<string, SelfDescription>()

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  tools(server: string, tools: readonly Tool[]): readonly Tool[] {
    return this.#options.trust.admit(server, 'tool', tools, ({ name }) => name)
  }

  /** Returns `undefined` if the server is held. */
  documents(server: string, documents: Admissible): Admissible | undefined {
    const { trust } = this.#options
    const prompts = trust.admit(server, 'prompt', documents.prompts, ({ name }) => name)
    const templates = trust.admit(server, 'template', documents.templates, ({ uriTemplate }) => uriTemplate)
    return trust.isHeld(server) ? undefined : { prompts, templates, resources: documents.resources }
  }

  /** The self-description of a server as it was sent. */
  description(server: string): SelfDescription | undefined {
    return this.#descriptions.get(server)
  }

  /** Sets the self-description of a server, with the instructions only if clients may see them. */
  describe(server: string, description: SelfDescription): void {
    this.#descriptions.set(server, description)
    const { instructions } = description
    const definitions = instructions === undefined ? [] : [{ instructions }]
    const [admitted] = this.#options.trust.admit(server, 'instructions', definitions, () => '')
    this.#options.source().describe(server, { ...description, instructions: admitted?.instructions })
    this.#readmitLists(server)
  }

  /** Applies a decision about a server. */
  readmit(server: string): void {
    const description = this.#descriptions.get(server)
    if (description === undefined) this.#readmitLists(server)
    else this.describe(server, description)
  }

  /** Applies a changed configuration. */
  configure({ mcpServers }: Config): void {
    for (const server of this.#descriptions.keys())
      if (Object.hasOwn(mcpServers, server)) this.readmit(server)
      else this.#descriptions.delete(server)
  }

  #readmitLists(server: string): void {
    this.#options.source().readmit(server)
    this.#options.proxy().readmit(server)
  }
}
