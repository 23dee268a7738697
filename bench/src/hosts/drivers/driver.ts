import type { wires } from '../endpoint/endpoint.ts'

/** Folders and URLs of one run. */
export interface Scene {
  /** The home directory of the run. The host reads and writes no other files. */
  readonly home: string
  /** The working directory, outside any project. */
  readonly project: string
  /** URL of the model endpoint: `http://127.0.0.1:<port>`. */
  readonly endpoint: string
}

/** Installs, configures and runs one host without a terminal. */
export interface Driver {
  /** Name of the driver and its file. */
  readonly id: string
  /** Name of the host without its version. */
  readonly title: string
  /** The dependency in test/hosts/package.json, which also pins the version. */
  readonly package: string
  /** Candidates for the program, relative to node_modules; the first that exists is used. Native, or ends in .js or .mjs. */
  readonly programs: readonly string[]
  /** The command name, with which `unfold connect` determines the version. */
  readonly command: string
  /** Required Node major version; default: the one that runs the lab. */
  readonly node?: 22
  readonly wire: keyof typeof wires
  /** Its name in `unfold connect`. */
  readonly connect: string
  /** Writes the configuration for the first start: model provider, no prompts, no telemetry. */
  readonly prepare: (scene: Scene) => Promise<void>
  readonly args: (prompt: string) => readonly string[]
  /** Returns the arguments to use a prompt of the server, with a value for its only argument. */
  readonly usePrompt?: (name: string, value: string) => readonly string[]
  readonly env: (scene: Scene) => Readonly<Record<string, string>>
  /** True if the model receives the `_meta` of a result; default: false. */
  readonly showsMeta?: true
  /** Scenarios of test/hosts that this host cannot pass with any server, with the reason. */
  readonly cannot?: { readonly [scenario: string]: string }
}
