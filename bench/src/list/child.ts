import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { FromChild, ToChild } from './servers/child.ts'

/** A server in a separate process. */
export interface Child extends AsyncDisposable {
  readonly port: number
  /** Sets the response of the floor server. */
  teach(answers: { readonly [path: string]: string }): void
  /** Returns the bytes in use after garbage collection. */
  weigh(): Promise<number>
}

/** Starts `servers/<name>` and waits until it is reachable. */
export async function startChild(name: string, args: readonly (string | number)[] = []): Promise<Child> {
  const child = fork(new URL(`servers/${name}.js`, import.meta.url), args.map(String), {
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  const reply = await answerOf(child)
  if (!('port' in reply)) throw new Error(`${name} did not report its port.`)
  return {
    port: reply.port,
    teach: (answers) => void child.send({ answers } satisfies ToChild),
    async weigh() {
      const answer = answerOf(child)
      child.send('weigh' satisfies ToChild)
      const weighed = await answer
      return 'memory' in weighed ? weighed.memory : Number.NaN
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function answerOf(child: ChildProcess): Promise<FromChild> {
  const ended = new AbortController()
  const died = (code: number | null): void => ended.abort(new Error(`The server exited with code ${code} before it replied.`))
  child.once('exit', died)
  try {
    const [message] = (await once(child, 'message', { signal: ended.signal })) as [FromChild]
    return message
  } finally {
    child.off('exit', died)
  }
}
