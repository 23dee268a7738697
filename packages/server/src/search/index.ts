export type { Embedder } from './embedder.ts'
export { type OpenAiEmbedderOptions, openAiEmbedder } from './openai.ts'
export type { Match, Rank, SearchSettings } from './settings.ts'
