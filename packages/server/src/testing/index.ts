export { replyData } from '../operations/calling/discovery-result.ts'
export type { TestClient } from './client.ts'
export { type ContextOptions, type TestContext, testContext } from './context.ts'
export {
  type ConnectOptions,
  type TestServer,
  type TestServerOptions,
  type TestTransport,
  testServer,
  testTransports,
} from './server.ts'
