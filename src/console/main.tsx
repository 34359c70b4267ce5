import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queries.ts';
import { router } from './app/router.tsx';
import { applyTheme, storedTheme } from './app/theme.ts';
import './styles/base.css';
import './styles/parts.css';
import './styles/rows.css';
import './styles/pages.css';
import './styles/forced.css';

applyTheme(storedTheme());
const place = document.getElementById('console');
if (place === null) throw new Error('index.html has no place for the console');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
