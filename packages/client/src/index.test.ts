import { expect, test } from 'vitest'
import * as client from './index.ts'

test('the package exports these values and no others', () => {
  expect(Object.keys(client).sort()).toMatchInlineSnapshot(`
    [
      "ClientError",
      "Pool",
      "connect",
      "diffTools",
      "fileCache",
      "hasNetwork",
      "identityOfTools",
      "isClientError",
      "launcherOf",
      "memoryCache",
      "pendingSandboxInstall",
      "readCached",
      "sandboxProgram",
      "systemClock",
      "validateArguments",
    ]
  `)
})
