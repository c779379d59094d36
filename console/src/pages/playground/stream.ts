/** What one frame of a streamed chat brings. */
export interface ChatFrame {
  readonly content?: string | undefined;
  readonly credits?: number | undefined;
  /** The stream broke off, in the gateway's words. */
  readonly error?: { readonly message?: string; readonly code?: string; readonly param?: string | null };
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly usage?: { readonly credits?: number } | null;
  readonly error?: ChatFrame['error'];
}

/** The frames of a stream of server-sent events, as they come. */
export async function* readChat(answer: Response): AsyncGenerator<ChatFrame> {
  for await (const data of readEvents(answer)) {
    if (data === '[DONE]') return;
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error !== undefined) yield { error: chunk.error };
    else yield { content: chunk.choices?.[0]?.delta?.content ?? undefined, credits: chunk.usage?.credits };
  }
}

async function* readEvents(answer: Response): AsyncGenerator<string> {
  if (answer.body === null) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) yield line.slice('data:'.length).trimStart();
    }
  }
}
