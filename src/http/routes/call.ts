import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallContext } from '../../calls/index.ts';
import type { ErrorCode } from '../../errors.ts';
import { newTrace } from '../../request-log/index.ts';

/** What any call to a model can be refused with. */
export const CALL_CODES = [
  'model_not_found',
  'no_capable_provider',
  'no_available_provider',
  'insufficient_credits',
  'precheck_failed',
  'unsupported_parameter',
  'upstream_rejected',
  'content_rejected',
  'upstream_failed',
  'request_timeout',
] as const satisfies readonly ErrorCode[];

/** What the body of speech and of music can be refused with. */
export const SOUND_CODES = [
  'missing_input',
  'text_too_long',
  'invalid_n',
  'invalid_duration',
  'invalid_response_format',
  'invalid_output',
  'invalid_reference_audio',
  'unsupported_audio_format',
  'voice_sample_too_large',
] as const satisfies readonly ErrorCode[];

/** The call is given up when the caller leaves. */
export function callContext(request: FastifyRequest, reply: FastifyReply): CallContext {
  const leaving = new AbortController();
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) leaving.abort();
  });
  return { requestId: request.id, signal: leaving.signal, trace: request.trace ?? newTrace(request.span) };
}
