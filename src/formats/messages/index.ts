import type { JsonObject } from '../../json.ts';
import type { FormatRequest } from '../../vendors/index.ts';
import type { ChatFormat } from '../format.ts';
import { messageIds, toMessage } from './answer.ts';
import { hasCacheMark } from './cache-marks.ts';
import { PassedWriter, passedMessage } from './passed.ts';
import type { TranslatedRequest } from './request.ts';
import { withoutUnsigned } from './thoughts.ts';
import { MessagesWriter } from './writer.ts';

/** What of a request is passed on to an upstream that speaks the format. */
export interface SentMessages {
  /** With every number as it was written. */
  readonly exact: JsonObject;
  readonly bytes: Buffer;
  readonly headers: NonNullable<FormatRequest['headers']>;
}

/** The Messages format: passed on to the upstreams that speak it, translated over chat elsewhere. */
export function messagesFormat(
  { chat, refusal }: TranslatedRequest,
  sent: SentMessages,
  requestId: string,
): ChatFormat<JsonObject> {
  const ids = messageIds(chat.model);
  return {
    limitField: 'max_tokens',
    refusal,
    writesCache: () => hasCacheMark(sent.exact),
    whole: (body, settled) => toMessage(body, ids, settled),
    writer: (inputTokens) => new MessagesWriter({ ids, inputTokens, requestId }),
    passThrough: {
      workOf: ({ messages }) => messages,
      request: () => passedRequest(sent),
      outputOf: (body) => body.content,
      whole: (body, settled) => passedMessage(body, ids, settled),
      writer: () => new PassedWriter(ids, requestId),
    },
  };
}

/** To the byte, unless there are thoughts in it that the vendor would refuse. */
function passedRequest({ exact, bytes, headers }: SentMessages): FormatRequest {
  const body = withoutUnsigned(exact);
  return body === exact ? { body, bytes, headers } : { body, headers };
}
