import type { Invocation } from './grammar.ts'
import type { Io } from './io.ts'

/** What a verb does; gives the exit code. */
export interface Command {
  run(invocation: Invocation, io: Io): Promise<number>
}

/** The command of each verb, loaded when it is asked for. */
export const commands: { readonly [verb: string]: () => Promise<Command> } = {
  serve: () => import('./commands/serve.ts'),
  add: () => import('./commands/add.ts'),
  remove: () => import('./commands/remove.ts'),
  import: () => import('./commands/import.ts'),
  token: () => import('./commands/token.ts'),
  connect: () => import('./commands/connect.ts'),
  disconnect: () => import('./commands/disconnect.ts'),
  status: () => import('./commands/status.ts'),
  logs: () => import('./commands/logs.ts'),
  reload: () => import('./commands/reload.ts'),
  restart: () => import('./commands/restart.ts'),
  enable: () => import('./commands/enable.ts'),
  disable: () => import('./commands/disable.ts'),
  list: () => import('./commands/list.ts'),
  call: () => import('./commands/call.ts'),
  describe: () => import('./commands/describe.ts'),
  search: () => import('./commands/search.ts'),
  tree: () => import('./commands/tree.ts'),
  preview: () => import('./commands/preview.ts'),
  watch: () => import('./commands/watch.ts'),
  identity: () => import('./commands/identity.ts'),
  generate: () => import('./commands/generate.ts'),
  plugins: () => import('./commands/plugins.ts'),
  init: () => import('./commands/init.ts'),
  login: () => import('./commands/login.ts'),
  logout: () => import('./commands/logout.ts'),
  doctor: () => import('./commands/doctor.ts'),
  completion: () => import('./commands/completion.ts'),
}
