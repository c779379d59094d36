import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';
import { dropIdentity, signedHeaders } from './credential.ts';

const NAME_HEADER = 'x-amzn-errortype';

/** Errors are `{"message"}`; their name is in a header or in `__type`, with an address around it. */
export const wire = defineWire({
  headers: (upstream, request) => {
    const { credential, apiKey } = upstream;
    if (credential === undefined) return { authorization: `Bearer ${apiKey}` };
    return signedHeaders(upstream, credential, request);
  },
  renew: dropIdentity,
  faults: {
    header: NAME_HEADER,
    errorIn: (body) => (stringAt(body, '__type') === undefined ? undefined : body),
    codesIn: (body) => [nameIn(body)],
    codes: {
      client: ['ValidationException'],
      account: [
        ...['AccessDeniedException', 'UnrecognizedClientException', 'InvalidClientTokenId', 'NotAuthorized'],
        ...['IncompleteSignature', 'InvalidSignatureException', 'RequestExpired', 'ExpiredTokenException'],
        ...['MissingAuthenticationTokenException', 'FTUFormNotFilled', 'OptInRequired'],
      ],
      config: ['ResourceNotFoundException'],
      rate: [
        'ThrottlingException',
        'ModelNotReadyException',
        'ServiceQuotaExceededException',
        'TooManyRequestsException',
      ],
      timeout: ['ModelTimeoutException'],
      server: [
        ...['ConflictException', 'InternalServerException', 'ServiceUnavailableException'],
        ...['ModelErrorException', 'ModelStreamErrorException'],
      ],
    },
    exception: wordsFault,
    statuses: { 424: 'server' },
  },
});

function nameIn(body: JsonObject): string | undefined {
  const name = stringAt(body, NAME_HEADER) ?? stringAt(body, '__type');
  return name?.replace(/^.*#/, '').replace(/:.*$/, '');
}

/** What is told as a bad request and is none of the caller's. */
function wordsFault(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const message = stringAt(body, 'message') ?? stringAt(body, 'Message') ?? '';
  if (/on-demand throughput|inference profile|model identifier is invalid/i.test(message)) return 'config';
  return /payment instrument|marketplace|account .*(suspended|on hold)|use case details/i.test(message)
    ? 'account'
    : undefined;
}

/** Of an exception inside a stream, whose name begins in lower case there. */
export function streamFault(exception: string): Fault {
  return wire.faults.ofCode(exception.charAt(0).toUpperCase() + exception.slice(1)) ?? 'server';
}
