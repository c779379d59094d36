import { DatabaseUnavailable } from '../../db/index.ts';
import { ApiError } from '../../errors.ts';
import { StorageUnavailable } from '../../storage/index.ts';

/** What a caller is told of whatever was thrown. */
export function apiErrorOf(error: Error & { readonly code?: string }): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DatabaseUnavailable) return new ApiError('database_unavailable', { cause: error });
  if (error instanceof StorageUnavailable) return new ApiError('job_service_unavailable', { cause: error });
  // What was given up because its caller left says so in its own way.
  if (error.name === 'AbortError') return new ApiError('request_canceled', { cause: error });
  switch (error.code ?? '') {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError('unsupported_content_type', { cause: error });
    case 'ECONNRESET':
    case 'ECONNABORTED':
      return new ApiError('request_canceled', { cause: error });
    default:
      return new ApiError('internal_error', { cause: error });
  }
}
