import { ChildProcess } from 'node:child_process'

// A process that outlives its test would disturb the other files of the worker, which share their modules with it.
Object.defineProperty(ChildProcess.prototype, 'spawn', {
  value: ({ file }: { readonly file: string }) => {
    throw new Error(`A unit test started "${file}". Rename the file to *.e2e.test.ts, or use a synchronous function.`)
  },
})
