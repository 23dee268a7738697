import { addAnalyze } from './tools/analyze.ts'
import { createToolbox, type Toolbox } from './tools/base-toolbox.ts'
import { addConfigure } from './tools/configure.ts'
import { addGenerate } from './tools/generate.ts'
import { addObserve } from './tools/observe.ts'
import { addQueryDom } from './tools/query-dom.ts'
import type { Watch } from './tools/watch.ts'

/** The five tools for a watched browser. */
export function browserToolbox(watch: Watch, options: { readonly counts?: boolean } = {}): Toolbox {
  const toolbox = createToolbox(watch, options)
  // The first load of a page becomes its baseline, even if nobody has asked for it yet.
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
