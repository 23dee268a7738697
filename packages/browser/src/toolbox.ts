import { addAnalyze } from './tools/analyze.ts'
import { type Toolbox, createToolbox } from './tools/box.ts'
import { addConfigure } from './tools/configure.ts'
import { addGenerate } from './tools/generate.ts'
import { addObserve } from './tools/observe.ts'
import { addQueryDom } from './tools/query-dom.ts'
import type { Watch } from './tools/watch.ts'

/** The five tools over a watched browser, to be served to any client. */
export function browserToolbox(watch: Watch, options: { readonly counts?: boolean } = {}): Toolbox {
  const toolbox = createToolbox(watch, options)
  // The first load of a page is what later ones are compared with, however much is recorded before anybody asks.
  const { recording, baselines } = watch
  let last: unknown
  recording.facts.subscribe(() => {
    const { newest } = recording.of('snapshots')
    if (newest !== undefined && newest !== last) baselines.observe(newest)
    last = newest
  })
  for (const add of [addObserve, addQueryDom, addAnalyze, addGenerate, addConfigure]) add(toolbox, watch)
  return toolbox
}
