import type { Io } from './base/io.ts'
import type { Invocation } from './grammar/grammar.ts'

export interface Command {
  /** Returns the exit code. */
  run(invocation: Invocation, io: Io): Promise<number>
}

/** Implementation of each command, loaded on demand. */
export const commands: { readonly [verb: string]: () => Promise<Command> } = {
  serve: () => import('./commands/gateway/serve.ts'),
  add: () => import('./commands/gateway/add.ts'),
  remove: () => import('./commands/gateway/remove.ts'),
  import: () => import('./commands/gateway/import.ts'),
  token: () => import('./commands/gateway/token.ts'),
  secret: () => import('./commands/gateway/secret.ts'),
  connect: () => import('./commands/gateway/connect.ts'),
  disconnect: () => import('./commands/gateway/disconnect.ts'),
  status: () => import('./commands/gateway/status.ts'),
  ui: () => import('./commands/dashboard/ui.ts'),
  why: () => import('./commands/dashboard/why.ts'),
  usage: () => import('./commands/dashboard/usage.ts'),
  logs: () => import('./commands/gateway/logs.ts'),
  audit: () => import('./commands/gateway/audit.ts'),
  review: () => import('./commands/trust/review.ts'),
  trust: () => import('./commands/trust/trust.ts'),
  approvals: () => import('./commands/trust/approvals.ts'),
  script: () => import('./commands/gateway/script.ts'),
  policy: () => import('./commands/gateway/policy.ts'),
  reload: () => import('./commands/gateway/reload.ts'),
  restart: () => import('./commands/gateway/restart.ts'),
  enable: () => import('./commands/settings/enable.ts'),
  disable: () => import('./commands/settings/disable.ts'),
  set: () => import('./commands/settings/set.ts'),
  list: () => import('./commands/tools/list.ts'),
  call: () => import('./commands/tools/call.ts'),
  describe: () => import('./commands/tools/describe.ts'),
  search: () => import('./commands/tools/search.ts'),
  tree: () => import('./commands/tools/tree.ts'),
  preview: () => import('./commands/tools/preview.ts'),
  watch: () => import('./commands/tools/watch.ts'),
  identity: () => import('./commands/tools/identity.ts'),
  generate: () => import('./commands/tools/generate.ts'),
  plugins: () => import('./commands/plugins.ts'),
  init: () => import('./commands/init.ts'),
  login: () => import('./commands/login.ts'),
  logout: () => import('./commands/logout.ts'),
  doctor: () => import('./commands/doctor.ts'),
  completion: () => import('./commands/completion.ts'),
}
