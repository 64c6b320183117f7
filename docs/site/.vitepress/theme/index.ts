import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import "./style.css";
import LimiterExplorer from "./LimiterExplorer.vue";

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component("LimiterExplorer", LimiterExplorer),
} satisfies Theme;
