import type { wires } from '../endpoint/endpoint.ts'

/** Folders and addresses of one run. */
export interface Scene {
  /** The home directory of the run. Nothing else on the machine is read or written by the host. */
  readonly home: string
  /** The working directory, below no other project. */
  readonly project: string
  /** Where the model endpoint listens: `http://127.0.0.1:<port>`. */
  readonly endpoint: string
}

/** How one host is installed, configured and run without a terminal. */
export interface Driver {
  /** Name of the driver, and of its file. */
  readonly id: string
  /** Name of the host without its version. */
  readonly title: string
  /** The dependency in test/hosts/package.json, which also pins the version. */
  readonly package: string
  /** What to start, relative to node_modules: the first that exists. A native program, or JavaScript that ends in .js or .mjs. */
  readonly programs: readonly string[]
  /** The command that its users type, by which `unfold connect` finds its version. */
  readonly command: string
  /** The Node that runs its JavaScript; the one that runs the lab if it does not matter. */
  readonly node?: 22
  readonly wire: keyof typeof wires
  /** The name by which `unfold connect` knows it. */
  readonly connect: string
  /** Writes what the host needs before its first start: model provider, no questions, no telemetry. */
  readonly prepare: (scene: Scene) => Promise<void>
  readonly args: (prompt: string) => readonly string[]
  /** The arguments that make it use a prompt of the server, with a value for the prompt's only argument. */
  readonly usePrompt?: (name: string, value: string) => readonly string[]
  readonly env: (scene: Scene) => Readonly<Record<string, string>>
  /** Scenarios of test/hosts that this host fails whatever a server does, with the reason. */
  readonly cannot?: { readonly [scenario: string]: string }
}
