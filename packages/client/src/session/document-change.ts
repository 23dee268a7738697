/** Change announced by a server: a list of prompts or resources, or one resource. */
export type DocumentChange =
  | { readonly kind: 'prompts' }
  | { readonly kind: 'resources' }
  | { readonly kind: 'resource'; readonly uri: string }
