export const AUTHORIZATION_CODE_SECONDS = 60;
export const ACCESS_TOKEN_SECONDS = 3_600;
export const REFRESH_TOKEN_SECONDS = 30 * 24 * 3_600;
/** How long a person may take to sign in and to decide. */
export const CONSENT_SECONDS = 3_600;
export const DEVICE_CODE_SECONDS = 600;
