import type { CommandTarget } from '@unfold-mcp/client'
import { serverFile } from '../../../test/bundled-servers.ts'
import { until } from '../../client/test/processes.ts'
import type { EventStream, UpstreamEvent, UpstreamEvents } from '../src/upstreams/events.ts'
import { Upstreams, type UpstreamsOptions } from '../src/upstreams/upstreams.ts'

/** A server of this folder, as a separate process. */
export const server = (file: string, ...args: readonly string[]): CommandTarget => ({
  command: process.execPath,
  args: [serverFile(new URL(`servers/${file}`, import.meta.url)), ...args],
})

/** Records all events from now on, by type and upstream. */
export function recorded(stream: EventStream) {
  const events: UpstreamEvent[] = []
  stream.all((event) => events.push(event))
  return <E extends keyof UpstreamEvents>(type: E, upstream?: string): readonly (UpstreamEvent & { type: E })[] =>
    events.filter(
      (event): event is UpstreamEvent & { type: E } =>
        event.type === type && (upstream === undefined || event.upstream === upstream),
    )
}

/** Upstreams, with a record of all their events. */
export function watched(options?: UpstreamsOptions) {
  const upstreams = new Upstreams(options)
  const of = recorded(upstreams.events)
  return {
    upstreams,
    of,
    names: (upstream: string): readonly string[] => upstreams.tools(upstream).map(({ name }) => name),
    hasPrinted: (line: string): boolean => of('stderr').some((event) => event.line === line),
    reaches: (upstream: string, state: string): Promise<void> =>
      until(() => upstreams.get(upstream)?.state === state, `${upstream} is ${state}`),
    /** Calls a tool and returns the text of its result. */
    async text(upstream: string, tool: string, args: Record<string, unknown> = {}): Promise<string> {
      const { content } = await upstreams.call(upstream, tool, args)
      const [first] = content
      return first?.type === 'text' ? first.text : ''
    },
    [Symbol.asyncDispose]: () => upstreams.close(),
  }
}
