import type { serve } from '@unfold-mcp/server'
import { expect, onTestFinished, test, vi } from 'vitest'
import { library } from '../../docs/examples/getting-started.ts'

test('getting started: the second file serves the toolbox of the first', async () => {
  const served = vi.fn<typeof serve>()
  vi.doMock('@unfold-mcp/server', async (original) => ({ ...(await original<object>()), serve: served }))
  onTestFinished(() => {
    vi.doUnmock('@unfold-mcp/server')
  })
  await import('../../docs/examples/main.ts')
  expect(served).toHaveBeenCalledWith(library)
})
