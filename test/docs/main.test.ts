import { serve } from '@unfold-mcp/server'
import { expect, test, vi } from 'vitest'
import { library } from '../../docs/examples/getting-started.ts'

vi.mock('@unfold-mcp/server', async (original) => ({ ...(await original<object>()), serve: vi.fn<typeof serve>() }))

test('getting started: the second file serves the toolbox of the first', async () => {
  await import('../../docs/examples/main.ts')
  expect(serve).toHaveBeenCalledWith(library)
})
