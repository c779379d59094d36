import '@mantine/core/styles.css';
import './kit/kit.css';
import './kit/media.css';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Refusal } from './api/client.ts';
import { router } from './router.tsx';
import { TextProvider } from './text.tsx';
import { theme } from './theme.ts';

const RETRIES_MAX = 2;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What was refused will be refused again; what did not arrive may arrive.
      retry: (count, error) => count < RETRIES_MAX && !(error instanceof Refusal && error.status < 500),
    },
    // A change is never repeated behind the reader's back.
    mutations: { retry: false },
  },
});

const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
// Under this name the library that holds the page still behind a dialog looks for the nonce of the style that it adds.
Object.assign(globalThis, { __webpack_nonce__: nonce });
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queries}>
        <TextProvider>
          <RouterProvider router={router} />
        </TextProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
