import { ChildProcess } from 'node:child_process'

// A process that outlives its test would affect the other test files of the worker, which share the module graph.
Object.defineProperty(ChildProcess.prototype, 'spawn', {
  value: ({ file }: { readonly file: string }) => {
    throw new Error(`A unit test started "${file}". Rename the file to *.e2e.test.ts, or use a synchronous function.`)
  },
})
