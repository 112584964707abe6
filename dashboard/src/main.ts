import './style.css'
import { createApp } from 'vue'
import App from './App.vue'
import { router } from './router.ts'
import { applyTheme } from './ui/theme.ts'

applyTheme()
createApp(App).use(router).mount('#app')
