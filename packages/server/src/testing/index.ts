export { replyData } from '../operations/calling/discovery-result.ts'
export type { TestClient } from './client.ts'
export { type ContextOptions, type TestContext, testContext } from './context.ts'
export { type ConnectOptions, type TestServer, type TestServerOptions, testServer, type Way, ways } from './ways.ts'
